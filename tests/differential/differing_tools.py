"""The differences on purpose in what tools return and raise."""

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
    "Descriptions of services in Swagger 2",
    here="ValueError says that they need to be converted to OpenAPI 3.",
    there="Tools are made of them that have no server, so that each call fails; a parameter in the"
    " body is a validation error.",
    why="Each call would fail.",
)
OTHER_FILTERS = Difference(
    "A `tool_filter` that is a tuple, a set or one name",
    here="The tools with these names are offered.",
    there="No tool is offered, and nobody is told.",
    why="They say as clearly as a list which tools are meant.",
)
MISSING_RESULTS = Difference(
    "Calls without a result, sent to Gemini",
    here="Gemini is told of each that there is none, such as of a job that waits.",
    there="The call is sent alone.",
    why="Gemini refuses a conversation in which not each call is followed by its response.",
)
ODD_RESULTS = Difference(
    "Tool results that JSON cannot hold",
    here="What JSON cannot hold becomes its `repr`, and keys become texts, in which half of a"
    " character is spelled out; the event is stored. A coroutine that nobody has awaited is an"
    " error that names the tool.",
    there="The event cannot be turned into JSON, or the run ends with a validation error.",
    why="One odd value should not lose an event, and with it the run.",
)

JSON_AT_ONCE = Difference(
    "Kinds of values in tool results",
    here="A function response holds JSON from the start: of a model or a tuple, a dict or a list.",
    there="It holds what the tool returned, until it is stored in a file.",
    why="The event that is yielded is the one that is read back, whatever keeps the session.",
)

NOBODY_CANCELLED = Difference(
    "Code that awaits what was cancelled, though nobody has cancelled the run",
    here="RuntimeError that names the tool, the agent or the node, as any other error of theirs.",
    there="The run ends without a word, or raises CancelledError.",
    why="What the code awaited was cancelled, not the run.",
)
NODES_OF_CALLBACKS = Difference(
    "`run_node` in callbacks",
    here="RuntimeError says that it is for nodes and async tools.",
    there="The node is run, unless the agent is below a Sequential, Loop, Parallel or custom agent:"
    " then RuntimeError.",
    why="Code should work wherever its agent stands in the tree; a tool, or a node before the"
    " agent, runs nodes anywhere.",
)
ASKED_AGAIN = Difference(
    "What a `single_turn` agent is told when it goes on",
    here="What it was asked.",
    there="The user's latest message in words, in the place of what it was asked.",
    why="It answers what it was asked, also if it had to wait for the user meanwhile.",
    without=_without_first_words,
)
PLACES_IN_CALLS = Difference(
    "Places of nodes that a tool runs with `run_node`",
    here="`node_info.path` names the call, too: `agent@1/tool@call/node@1`.",
    there="It does not: what several calls run has one place, `agent@1/node@1`.",
    why="Nodes of different calls are different runs: each has its own history, questions and"
    " results.",
    without=_without_calls_in_places,
)
CALLS_APART = Difference(
    "Several calls of tools that run the same agent",
    here="Each agent sees what was done for its own call, and what the user agrees to counts for"
    " that call alone.",
    there="Agents that run at the same time see each other's work, may do it in each other's place,"
    " and an answer to one of them counts for all.",
    why="What the user has agreed to is to be done, and nothing else.",
)
FORGOTTEN_SESSIONS = Difference(
    "Servers of MCP that were started anew",
    here="A session that a server behind streamable HTTP no longer knows is begun anew, and the"
    " call that it has refused is made in the new one.",
    there="The server has no tools any more, until the agent's process is started anew, too.",
    why="MCP says so; servers are started anew every day.",
)
CREDENTIALS_ALONE = Difference(
    "A credential of McpToolset without a scheme",
    here="It is sent: a key as `X-API-Key`, a token or password as `Authorization`.",
    there="It is not sent, and nothing says so.",
    why="Who gives a credential wants it to be sent.",
)
FORM_FILES = Difference(
    "Files in forms that are sent to a service",
    here="In `multipart/form-data`, what the description calls a file (`format: binary` or"
    " `contentMediaType`) is sent as a file of that type, and the items of a list one by one.",
    there="Every field is sent as a file of bytes; one that is a list or a number ends the run.",
    why="Services look for fields and files in different places.",
)

QUERY_STYLES = Difference(
    "Lists and objects in the query of a service",
    here="They are written as the description says (`style`, `explode`), an object as its fields"
    " if it says nothing.",
    there="A list has its name before each item, and an object is written as Python shows it.",
    why="A service reads what its description says.",
)
PATH_STYLES = Difference(
    "Lists and objects in paths and headers of a service",
    here="They are written as the description says: `label`, `matrix`, `explode`, or JSON.",
    there="All have commas between their pieces, whatever the description says.",
    why="A service reads what its description says.",
)
COOKIES_APART = Difference(
    "Semicolons in cookies of a service",
    here="The call is refused, and the model told why.",
    there="What is behind the semicolon is sent as another cookie.",
    why="An argument, which a model may have taken from a page, must not add a cookie.",
)
UNTOLD_PLACES = Difference(
    "Places in the path of a service that are not described",
    here="A parameter of the path that the description forgets is a mandatory text.",
    there="Every call of the operation ends the run with KeyError.",
    why="The path says that it is there, and without it nothing can be called.",
)
MEDIA_RANGES = Difference(
    "Bodies of a service that may be of any type",
    here="For `*/*` and `application/*` JSON is sent, for `text/*` a plain text.",
    there="The range itself is sent as the type, and nothing of the body.",
    why="Services read a body by its type, and a range is none.",
)
READ_ONLY = Difference(
    "Fields of a service that only its answers have",
    here="A field that is `readOnly` is not mandatory in a request, whatever `required` says.",
    there="It is declared as mandatory, so that a model makes something up.",
    why="OpenAPI says that `required` is about answers there.",
)
WHOLE_NUMBERS = Difference(
    "Whole numbers for a service",
    here="Where the description says `integer`, 3 is sent, also if the model has written 3.0.",
    there="3.0 is sent, in a path too.",
    why="JSON does not tell the two apart, but services do.",
)
FIELDS_OF_ALL = Difference(
    "Bodies of a service with fields of their own and of `allOf`",
    here="The model is told of all of them.",
    there="It is told of the body's own fields; the others are not sent.",
    why="A field that cannot be given is lost, and the service may demand it.",
)
EMPTY_PARTS = Difference(
    "Parts that say nothing, sent to Gemini",
    here="An empty text, and what google-genai does not know, are left out beside other parts; a"
    " signature is kept.",
    there="They are sent with each request from then on.",
    why="Gemini refuses a conversation with an empty part.",
)
