"""Intended differences in streamed answers."""

from tests.differential.case import Difference
from tests.differential.normal import Json


def _without_ends_of_streams(record: Json) -> Json:
    """Remove fragments without content, and error messages."""
    for holder in (*record["runs"], *record["sessions"].values()):
        visible = [
            event for event in holder["events"] if "content" in event or not event.get("partial")
        ]
        holder["events"] = [_without_explanation(event) for event in visible]
    return record


def _without_explanation(event: Json) -> Json:
    return {key: value for key, value in event.items() if key != "errorMessage"}


ENDS_OF_STREAMS = Difference(
    "Gemini answers that end with an error",
    here="The whole answer has the error code, and a message even if the service gave none. A"
    " chunk without content isn't yielded.",
    there="The last chunk has the code even without content; without a message from the service"
    " there is none.",
    why="A code alone doesn't help, and an error should appear once.",
    without=_without_ends_of_streams,
)
SILENT_STREAMS = Difference(
    "Empty Gemini streams",
    here="They end with an error event, `MODEL_RETURNED_NO_CONTENT`, as without streaming.",
    there="The run ends without any event.",
    why="The user must see that there is no answer.",
)
WHOLE_FRAGMENTS = Difference(
    "The former way of streaming",
    here="Every chunk of a streamed answer is a partial event, and one whole answer follows.",
    there="This is the default; with `ADK_DISABLE_PROGRESSIVE_SSE_STREAMING=1` only text is"
    " streamed, calls are separate answers, and text may be repeated.",
    why="Clients need only one way to show a growing answer.",
)


def _without_fragments_of_calls(record: Json) -> Json:
    for run in record["runs"]:
        run["events"] = [event for event in run["events"] if not _is_fragment_of_call(event)]
    return record


def _is_fragment_of_call(event: Json) -> bool:
    parts = (event.get("content") or {}).get("parts") or []
    return bool(event.get("partial")) and any("functionCall" in part for part in parts)


FRAGMENTS_OF_CALLS = Difference(
    "Streamed calls through LiteLlm",
    here="Calls arrive with the whole answer.",
    there="Before it, there are chunks of calls with arguments by path.",
    why="A partial call can neither run nor be read; text and thoughts are streamed.",
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
    "Streamed calls through LiteLlm that break off",
    here="The error has a content without parts, as without streaming.",
    there="It has no content.",
    why="An answer has one form, however it arrived.",
    without=_without_form_of_broken_calls,
)
STREAMS_WITHOUT_ANSWER = Difference(
    "LiteLlm streams without an answer",
    here="A response without an answer, such as a gateway's page, is an error, as without"
    " streaming.",
    there="It is a successful empty answer, made up by litellm.",
    why="The user must see that there is no answer.",
)
