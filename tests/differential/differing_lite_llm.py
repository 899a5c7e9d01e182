"""How what reaches litellm differs on purpose."""

import json
from collections.abc import Callable

from tests.differential.case import Difference
from tests.differential.normal import Json


def _without_fields(*names: str) -> Callable[[Json], Json]:
    """A record whose requests to litellm, and what stands in them, lack these fields."""

    def bare(value: Json) -> Json:
        if isinstance(value, list):
            return [bare(each) for each in value]
        if isinstance(value, dict):
            return {key: bare(each) for key, each in value.items() if key not in names}
        return value

    def without(record: Json) -> Json:
        record["notes"] = bare(record["notes"])
        return record

    return without


TRACKING = Difference(
    "Headers that count users",
    here="Requests for Gemini through LiteLlm have the headers that the agent gives.",
    there="They tell Google the versions of google-adk and of Python, too.",
    why="devui is not google-adk, and reports nothing.",
    without=_without_fields("headers"),
)
FORMATS = Difference(
    "Answer formats that are not classes",
    here="LiteLlm sends `response_json_schema`, the schema of `list[...]` and of other types, and"
    " `response_mime_type`.",
    there="It drops them.",
    why="Whoever asks for JSON should get it.",
    without=_without_fields("response_format"),
)
OPEN_SHAPES = Difference(
    "Shapes that services refuse to keep to",
    here="A shape with free dicts is sent as it is.",
    there="It is sent as a strict one, which OpenAI refuses.",
    why="An answer that is checked here afterwards is better than none.",
    without=_without_fields("response_format"),
)
ONE_TOOL = Difference(
    "Calls of one tool that are required",
    here="`allowed_function_names` with one name makes LiteLlm ask for that tool.",
    there="Any tool may be called.",
    why="That is what the setting says.",
    without=_without_fields("tool_choice"),
)
LOGPROBS = Difference(
    "Probabilities of tokens",
    here="LiteLlm asks for them if the settings do; litellm says so where a service has none.",
    there="It drops them.",
    why="A setting should take effect, or an error say why not.",
    without=_without_fields("logprobs", "top_logprobs"),
)
NULLABLE = Difference(
    "Parameters that may be null",
    here="LiteLlm declares them as JSON schema does: `null` is one of their types.",
    there="They are marked `nullable`, which JSON schema does not know.",
    why="Services that read JSON schema would not see it.",
    without=_without_fields("nullable", "type"),
)
FILES = Difference(
    "Files that go through LiteLlm",
    here="A file goes with the request, whatever its type. A file at an address"
    " that the provider does not fetch is named in a text; pictures at https go as pictures.",
    there="For OpenAI and Azure a file is uploaded first, and stays there. Other types, and"
    " addresses that a provider does not fetch, are errors.",
    why="A request should leave nothing behind, and a model can say that it cannot see a file.",
)
NAMED_FILES = Difference(
    "Names of files that go through LiteLlm",
    here="A file that goes with the request has its name.",
    there="It has none. Requests for Gemini have the headers that count users.",
    why="People speak of files by their names, and OpenAI wants one.",
    without=_without_fields("filename", "headers"),
)
UNSIGNED = Difference(
    "Thoughts without a signature",
    here="LiteLlm sends them to Claude as text of thoughts, which litellm leaves out.",
    there="They are sent as blocks without a signature.",
    why="Claude refuses such blocks.",
    without=_without_fields("content", "reasoning_content"),
)


def _without_counts_of_caches(record: Json) -> Json:
    for holder in (*record["runs"], *record["sessions"].values()):
        for event in holder["events"]:
            event.get("usageMetadata", {}).pop("cachedContentTokenCount", None)
    return record


UNTOLD = Difference(
    "Cached tokens that LiteLlm is not told of",
    here="`cached_content_token_count` is None.",
    there="It is 0.",
    why="Nobody has counted them.",
    without=_without_counts_of_caches,
)


def _without_silent_fragments(record: Json) -> Json:
    for run in record["runs"]:
        run["events"] = [event for event in run["events"] if not _says_nothing(event)]
    return record


def _says_nothing(event: Json) -> bool:
    parts = (event.get("content") or {}).get("parts") or []
    return bool(event.get("partial")) and not any(part.get("text") for part in parts)


SILENT_SIGNATURES = Difference(
    "Streamed signatures and calls of LiteLlm",
    here="The signature of a thought and calls come with the whole answer.",
    there="Before it there are fragments of them, which show nothing.",
    why="Fragments are for showing.",
    without=_without_silent_fragments,
)
OTHER_CALLS = Difference(
    "Calls in texts that name no tool",
    here="A call that is written into the text of an answer counts if it names a tool of the"
    " request; else the text stays as it is.",
    there="Any object with `name` and `arguments` counts.",
    why="Somebody may have asked for such an object.",
)


def _with_halves(record: Json) -> Json:
    return _without_counts_of_caches(json.loads(json.dumps(record).replace(r"\\udce9", r"\udce9")))


HALVES = Difference(
    "Halves of characters that go through LiteLlm",
    here="Half of a character, such as Python has in the names of files that are not UTF-8, is"
    " spelled out (`\\udce9`); two that belong together are joined.",
    there="The request fails, and each one after it in that session.",
    why="One odd name must not end a session.",
    without=_with_halves,
)
