"""Intended differences in what tools return and raise."""

from typing import Any

from tests.differential.case import Difference


def _without_first_words(record: Any) -> Any:
    for request in record["requests"]:
        request["contents"][0]["parts"] = []
    return record


def _without_calls_in_places(record: Any) -> Any:
    for holder in (*record["runs"], *record["sessions"].values()):
        for event in holder["events"]:
            where = event.get("nodeInfo", {})
            if "path" in where:
                where["path"] = _without_calls(where["path"])
            if "outputFor" in where:
                where["outputFor"] = [_without_calls(path) for path in where["outputFor"]]
    return record


def _without_calls(path: str) -> str:
    segments = path.split("/")
    return "/".join(each for each in segments if each.rpartition("@")[2].isdigit())


SWAGGER_2 = Difference(
    "Swagger 2 descriptions",
    here="ValueError says to convert them to OpenAPI 3.",
    there="They become tools without a server, so each call fails; a body parameter is a"
    " validation error.",
    why="No call would work.",
)
OTHER_FILTERS = Difference(
    "A `tool_filter` that is a tuple, a set or a single name",
    here="The named tools are offered.",
    there="No tool is offered, without any message.",
    why="The meaning is as clear as with a list.",
)
MISSING_RESULTS = Difference(
    "Calls without a result, sent to Gemini",
    here="Gemini is told for each that there is no result yet, such as for a running job.",
    there="The call is sent alone.",
    why="Gemini rejects a conversation in which a call isn't followed by its response.",
)
ODD_RESULTS = Difference(
    "Tool results that JSON can't represent",
    here="Such values become their `repr`, and keys become text, with lone surrogates escaped; the"
    " event is stored. A coroutine that was never awaited is an error that names the tool.",
    there="The event can't be serialized, or the run fails with a validation error.",
    why="One odd value shouldn't lose an event and the run.",
)

JSON_AT_ONCE = Difference(
    "Value types in tool results",
    here="A function response contains JSON from the start: a dict or list instead of a model or"
    " tuple.",
    there="It contains what the tool returned, until it is stored in a file.",
    why="The yielded event should equal the one read back, in every service.",
)

NOBODY_CANCELLED = Difference(
    "Awaiting something cancelled, when the run isn't",
    here="It raises RuntimeError that names the tool, agent or node, like any other error of"
    " theirs.",
    there="The run ends silently, or raises CancelledError.",
    why="What the code awaited was cancelled, not the run.",
)
NODES_OF_CALLBACKS = Difference(
    "`run_node` in callbacks",
    here="It raises RuntimeError, which says that it is for nodes and async tools.",
    there="The node runs, unless the agent is below a Sequential, Loop, Parallel or custom agent:"
    " then RuntimeError.",
    why="Code should work wherever its agent is in the tree; a tool, or a node before the agent,"
    " can run nodes anywhere.",
)
ASKED_AGAIN = Difference(
    "What a resumed `single_turn` agent gets",
    here="Its original request.",
    there="The user's latest text message instead.",
    why="It answers its request, even if it had to wait for the user.",
    without=_without_first_words,
)
PLACES_IN_CALLS = Difference(
    "Paths of nodes that a tool runs with `run_node`",
    here="`node_info.path` includes the call: `agent@1/tool@call/node@1`.",
    there="It doesn't: nodes of several calls share one path, `agent@1/node@1`.",
    why="Nodes of different calls are different runs, each with its own history, questions and"
    " results.",
    without=_without_calls_in_places,
)
CALLS_APART = Difference(
    "Several tool calls that run the same agent",
    here="Each agent sees only the work for its own call, and a confirmation applies only to that"
    " call.",
    there="Agents that run in parallel see each other's work, may do it for each other, and an"
    " answer to one applies to all.",
    why="Exactly what the user confirmed should happen.",
)
FORGOTTEN_SESSIONS = Difference(
    "Restarted MCP servers",
    here="If a server with streamable HTTP no longer knows a session, a new one is started and the"
    " rejected call is repeated in it.",
    there="The server has no tools until the agent's process is restarted, too.",
    why="MCP requires it, and servers are restarted every day.",
)
CREDENTIALS_ALONE = Difference(
    "A credential of McpToolset without a scheme",
    here="It is sent: a key as `X-API-Key`, a token or password as `Authorization`.",
    there="It is silently not sent.",
    why="A credential you pass is meant to be sent.",
)
FORM_FILES = Difference(
    "Files in forms sent to a service",
    here="In `multipart/form-data`, fields described as files (`format: binary` or"
    " `contentMediaType`) are sent as files of that type, and list items one by one.",
    there="Every field is sent as a binary file; a list or number fails the run.",
    why="Services expect fields and files in different places.",
)

QUERY_STYLES = Difference(
    "Lists and objects in query parameters",
    here="They are serialized as described (`style`, `explode`), an object by default as its"
    " fields.",
    there="A list repeats its name for each item, and an object is sent as its Python"
    " representation.",
    why="A service expects what its description says.",
)
PATH_STYLES = Difference(
    "Lists and objects in path and header parameters",
    here="They are serialized as described: `label`, `matrix`, `explode`, or JSON.",
    there="They are always joined with commas.",
    why="A service expects what its description says.",
)
COOKIES_APART = Difference(
    "Semicolons in cookie parameters",
    here="The call is rejected, and the model is told why.",
    there="The text after the semicolon is sent as another cookie.",
    why="An argument, which a model may have taken from a page, must not add a cookie.",
)
UNTOLD_PLACES = Difference(
    "Undescribed path parameters",
    here="A path parameter without a description is a required text.",
    there="Every call of the operation fails the run with KeyError.",
    why="The path shows that it exists, and no call works without it.",
)
MEDIA_RANGES = Difference(
    "Request bodies of any type",
    here="For `*/*` and `application/*`, JSON is sent; for `text/*`, plain text.",
    there="The range itself is sent as the type, without a body.",
    why="Services parse a body by its type, and a range isn't one.",
)
READ_ONLY = Difference(
    "Read-only fields of request bodies",
    here="A `readOnly` field isn't required in a request, whatever `required` says.",
    there="It is declared as required, so a model makes something up.",
    why="In OpenAPI, `required` then applies only to responses.",
)
WHOLE_NUMBERS = Difference(
    "Integers for a service",
    here="If the description says `integer`, 3 is sent even if the model wrote 3.0.",
    there="3.0 is sent, also in a path.",
    why="JSON doesn't distinguish the two, but services do.",
)
FIELDS_OF_ALL = Difference(
    "Request bodies with fields of their own and `allOf`",
    here="All of them are declared to the model.",
    there="Only the body's own fields are declared; the others aren't sent.",
    why="The service may require any of them.",
)
EMPTY_PARTS = Difference(
    "Empty parts, sent to Gemini",
    here="Empty text, and parts that google-genai doesn't know, are omitted next to other parts; a"
    " signature is kept.",
    there="They are sent with each later request.",
    why="Gemini rejects a conversation with an empty part.",
)
