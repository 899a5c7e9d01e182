"""Intended differences in what reaches litellm."""

import json
from collections.abc import Callable

from tests.differential.case import Difference
from tests.differential.normal import Json


def _without_fields(*names: str) -> Callable[[Json], Json]:
    """Return a function that removes these fields from the requests to litellm in a record."""

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
    here="Requests for Gemini through LiteLlm have only the headers set by the agent.",
    there="They also tell Google the versions of google-adk and Python.",
    why="devui is not google-adk and sends no usage data.",
    without=_without_fields("headers"),
)
FORMATS = Difference(
    "Answer formats that are not classes",
    here="LiteLlm sends `response_json_schema`, the schema of `list[...]` and of other types, and"
    " `response_mime_type`.",
    there="It drops them.",
    why="If you ask for JSON, you should get it.",
    without=_without_fields("response_format"),
)
OPEN_SHAPES = Difference(
    "Schemas that services don't enforce",
    here="A schema with free-form dicts is sent unchanged.",
    there="It is sent as strict, which OpenAI rejects.",
    why="An answer that is validated afterwards is better than none.",
    without=_without_fields("response_format"),
)
ONE_TOOL = Difference(
    "Requiring one tool",
    here="`allowed_function_names` with one name makes LiteLlm ask for that tool.",
    there="Any tool may be called.",
    why="That is what the setting says.",
    without=_without_fields("tool_choice"),
)
LOGPROBS = Difference(
    "Token probabilities",
    here="LiteLlm requests them if the settings do; litellm reports if a service has none.",
    there="It drops them.",
    why="A setting should take effect, or raise an error.",
    without=_without_fields("logprobs", "top_logprobs"),
)
NULLABLE = Difference(
    "Parameters that may be null",
    here="LiteLlm declares them as JSON schema does: `null` is one of their types.",
    there="They are marked `nullable`, which isn't part of JSON schema.",
    why="Services that read JSON schema would ignore it.",
    without=_without_fields("nullable", "type"),
)
FILES = Difference(
    "Files sent through LiteLlm",
    here="A file is sent with the request, whatever its type. A URL that the provider doesn't"
    " fetch is named in a text; https images are sent as images.",
    there="For OpenAI and Azure, a file is uploaded first and stays there. Other types, and URLs"
    " that a provider doesn't fetch, are errors.",
    why="A request should leave nothing behind, and a model can say that it can't see a file.",
)
NAMED_FILES = Difference(
    "Names of files sent through LiteLlm",
    here="A file is sent with its name.",
    there="It has none. Requests for Gemini have the headers that count users.",
    why="People refer to files by name, and OpenAI requires one.",
    without=_without_fields("filename", "headers"),
)
UNSIGNED = Difference(
    "Thoughts without a signature",
    here="LiteLlm sends them to Claude as thought text, which litellm leaves out.",
    there="They are sent as unsigned blocks.",
    why="Claude rejects such blocks.",
    without=_without_fields("content", "reasoning_content"),
)


def _without_counts_of_caches(record: Json) -> Json:
    for holder in (*record["runs"], *record["sessions"].values()):
        for event in holder["events"]:
            event.get("usageMetadata", {}).pop("cachedContentTokenCount", None)
    return record


UNTOLD = Difference(
    "Cached tokens that litellm doesn't report",
    here="`cached_content_token_count` is None.",
    there="It is 0.",
    why="They were never counted.",
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
    "Streamed signatures and calls through LiteLlm",
    here="Thought signatures and calls arrive with the whole answer.",
    there="They also arrive before it, in chunks with nothing to show.",
    why="Chunks are for display.",
    without=_without_silent_fragments,
)
OTHER_CALLS = Difference(
    "Calls written into text that name no tool",
    here="A call written into an answer's text counts only if it names a tool of the request;"
    " otherwise the text stays unchanged.",
    there="Any object with `name` and `arguments` counts.",
    why="The user may have asked for such an object.",
)


def _with_halves(record: Json) -> Json:
    return _without_counts_of_caches(json.loads(json.dumps(record).replace(r"\\udce9", r"\udce9")))


HALVES = Difference(
    "Lone surrogates sent through LiteLlm",
    here="A lone surrogate, as in Python's names of files that aren't UTF-8, is escaped"
    " (`\\udce9`); a pair is joined.",
    there="The request fails, and so does every later one in that session.",
    why="One odd file name must not end a session.",
    without=_with_halves,
)
