"""How streamed answers differ on purpose."""

from tests.differential.case import Difference
from tests.differential.normal import Json


def _without_ends_of_streams(record: Json) -> Json:
    """Fragments that show nothing, and what is said of codes, are left out."""
    for holder in (*record["runs"], *record["sessions"].values()):
        shown = [
            event for event in holder["events"] if "content" in event or not event.get("partial")
        ]
        holder["events"] = [_without_explanation(event) for event in shown]
    return record


def _without_explanation(event: Json) -> Json:
    return {key: value for key, value in event.items() if key != "errorMessage"}


ENDS_OF_STREAMS = Difference(
    "Answers of Gemini that end badly",
    here="The whole answer has the error's code, and a message also when the service gave none."
    " A chunk that shows nothing is no fragment.",
    there="The last chunk is a fragment with the code even if it has no content; without a message"
    " of the service there is none.",
    why="A code alone helps nobody, and an error should be told once.",
    without=_without_ends_of_streams,
)
SILENT_STREAMS = Difference(
    "Streams of Gemini that say nothing",
    here="An error event, `MODEL_RETURNED_NO_CONTENT`, as without streaming.",
    there="The run ends without any event.",
    why="Whoever waits for the answer should hear that there will be none.",
)
WHOLE_FRAGMENTS = Difference(
    "Streaming as it once was",
    here="Every chunk of a streamed answer is a fragment, and one whole answer follows.",
    there="So it is by default; with `ADK_DISABLE_PROGRESSIVE_SSE_STREAMING=1` only texts are"
    " fragments, calls are answers by themselves, and texts may be repeated.",
    why="Clients have one way to show an answer that grows.",
)


def _without_fragments_of_calls(record: Json) -> Json:
    for run in record["runs"]:
        run["events"] = [event for event in run["events"] if not _is_fragment_of_call(event)]
    return record


def _is_fragment_of_call(event: Json) -> bool:
    parts = (event.get("content") or {}).get("parts") or []
    return bool(event.get("partial")) and any("functionCall" in part for part in parts)


FRAGMENTS_OF_CALLS = Difference(
    "Streamed calls of LiteLlm",
    here="Calls come with the whole answer.",
    there="Before it there are fragments of calls, with the arguments by path.",
    why="What cannot be run yet and cannot be read helps nobody; texts and thoughts do come in"
    " fragments.",
    without=_without_fragments_of_calls,
)


def _without_form_of_broken_calls(record: Json) -> Json:
    for holder in (*record["runs"], *record["sessions"].values()):
        for event in holder["events"]:
            if event.get("errorCode"):
                for name in ("content", "partial", "errorMessage"):
                    event.pop(name, None)
    return _without_fragments_of_calls(record)


BROKEN_CALLS = Difference(
    "Streamed calls of LiteLlm that break off",
    here="The error comes with a content that has no parts, as without streaming.",
    there="It comes without content.",
    why="An answer has one form, however it came.",
    without=_without_form_of_broken_calls,
)
STREAMS_WITHOUT_ANSWER = Difference(
    "Streams of LiteLlm without an answer",
    here="What holds no answer, such as the page of a gateway, is an error, as without streaming.",
    there="It is an answer that says nothing and ends well, as litellm makes it up.",
    why="Whoever waits for the answer should hear that there will be none.",
)
