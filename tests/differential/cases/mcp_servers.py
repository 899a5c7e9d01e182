"""Tools and resources of a real MCP server that runs in its own process."""

import asyncio
import copy
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from tests.differential.case import Case, add, case
from tests.differential.differing_tools import CREDENTIALS_ALONE, FORGOTTEN_SESSIONS
from tests.differential.script import Call, Say, call
from tests.kit.mcp_forks import mcp_command
from tests.source import ROOT

if find_spec("mcp"):
    from mcp import StdioServerParameters

CALLS: dict[str, Call] = {
    "numbers": call("add", a=1, b=2),
    "numbers as texts": call("add", a="1", b="2"),
    "a missing argument": call("add", a=1),
    "an argument nobody asked for": call("add", a=1, b=2, c=3),
    "a tool that raises": call("fail"),
    "a tool that tells of its progress": call("work", steps=2),
    "a tool that ends the server": call("leave"),
    "a name of the runtime": call("transfer_to_agent", agent_name="agent"),
    "a tool that asks the model": call("ask_model", question="Who?"),
    "a tool that asks the user": call("ask_user", question="Which?"),
}


def parameters(stage: Any) -> Any:
    """Return the connection to the test kit's server over its pipes."""
    command, *args = mcp_command("stdio")
    params = StdioServerParameters(command=command, args=args)
    return stage.ns.StdioConnectionParams(server_params=params, timeout=60)


def server(stage: Any, **how: Any) -> Any:
    """Return a toolset of that server."""
    return stage.ns.McpToolset(connection_params=parameters(stage), **how)


async def _played(stage, answers, says=("go",), resumable=False, stream=False, **how):
    agent = stage.agent("agent", *answers, "Done.", "More.", tools=[server(stage, **how)])
    await stage.open(agent, resumable=resumable)
    for words in says:
        await (stage.stream(words) if stream else stage.say(words))
    await stage.runner.close()


for _name, _call in CALLS.items():
    add(
        Case(
            f"an MCP server is called with {_name}", partial(_played, answers=[_call]), needs="mcp"
        )
    )

CHOICES: dict[str, dict[str, Any]] = {
    "a list": {"tool_filter": ["add", "fail"]},
    "a predicate": {"tool_filter": lambda tool, context=None: tool.name.startswith("a")},
    "a prefix": {"tool_name_prefix": "calc"},
    "a list and a prefix": {"tool_filter": ["add"], "tool_name_prefix": "calc"},
    "a list of nothing that is there": {"tool_filter": ["gone"]},
    "an empty list": {"tool_filter": []},
}
for _name, _how in CHOICES.items():
    _answers = [call("calc_add", a=1, b=2), call("add", a=1, b=2)]
    _play = partial(_played, answers=_answers[: 1 if "prefix" in _name else 2][-1:], **_how)
    add(Case(f"tools of an MCP server are chosen by {_name}", _play, needs="mcp"))


@case(needs="mcp")
async def an_mcp_server_is_called_in_a_batch(stage):
    batch = [Say("I try."), CALLS["numbers"], CALLS["a tool that raises"], call("add", a=3, b=4)]
    await _played(stage, [batch])


@case(needs="mcp")
async def an_mcp_server_is_called_while_the_answer_is_streamed(stage):
    await _played(stage, [[Say("I try it.", chunks=3), CALLS["numbers"]]], stream=True)


@case(needs="mcp")
async def an_mcp_server_serves_several_turns(stage):
    await _played(stage, [CALLS["numbers"], "One.", CALLS["numbers"]], says=("a", "b"))


@case(needs="mcp")
async def an_mcp_server_that_died_is_started_anew(stage):
    await _played(
        stage, [CALLS["a tool that ends the server"], "Oh.", CALLS["numbers"]], ("a", "b")
    )


def odd_server(stage: Any, **how: Any) -> Any:
    """Return a toolset of the test kit's server that breaks the rules."""
    path = str(ROOT / "tests" / "kit" / "odd_mcp_server.py")
    command = StdioServerParameters(command=sys.executable, args=[path])
    return stage.ns.McpToolset(
        connection_params=stage.ns.StdioConnectionParams(server_params=command, **how)
    )


ODD_CALLS: dict[str, Call] = {
    "a tool that never answers": call("hang"),
    "a tool that breaks its word": call("lie"),
    "a tool without a description": call("mumble", n=1),
}


async def _odd(stage, step):
    agent = stage.agent("agent", step, "Done.", tools=[odd_server(stage, timeout=3)])
    await stage.open(agent)
    await stage.say()
    await stage.runner.close()


for _name, _call in ODD_CALLS.items():
    add(Case(f"an odd MCP server is called with {_name}", partial(_odd, step=_call), needs="mcp"))


@case(needs="mcp")
async def an_mcp_server_that_died_between_two_calls_is_started_anew(stage):
    async def wait(tool, args, tool_context, tool_response):
        await asyncio.sleep(0.5)

    agent = stage.agent(
        "agent",
        call("part"),
        call("mumble"),
        "Done.",
        tools=[odd_server(stage, timeout=60)],
        after_tool_callback=wait,
    )
    await stage.open(agent)
    await stage.say()
    await stage.runner.close()


@contextmanager
def _served(kind: str, port: str = "0") -> Iterator[str]:
    command = mcp_command(kind, port)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()
            process.stdout.read()  # reads to the end, so that the port is free again


async def _started_anew(stage, kind):
    params = stage.ns.StreamableHTTPConnectionParams
    if kind == "sse":
        params = stage.ns.SseConnectionParams
    with ExitStack() as servers:
        url = servers.enter_context(_served(kind))
        toolset = stage.ns.McpToolset(connection_params=params(url=url, timeout=60))
        agent = stage.agent(
            "agent", CALLS["numbers"], "Done.", CALLS["numbers"], "More.", tools=[toolset]
        )
        await stage.open(agent)
        await stage.say()
        servers.close()
        servers.enter_context(_served(kind, str(urlsplit(url).port)))
        await asyncio.sleep(0.5)
        await stage.say("again")
        await stage.runner.close()


for _kind, _differs in (("http", FORGOTTEN_SESSIONS), ("sse", None)):
    _play = partial(_started_anew, kind=_kind)
    add(Case(f"an MCP server over {_kind} is started anew", _play, _differs, needs="mcp"))


ASKED = [call("header", name=name) for name in ("authorization", "x-user", "x-own")]


async def _told(stage, steps=ASKED, headers=None, **how):
    """The headers that a server receives over HTTP, which the agent asks for one by one."""
    with _served("http") as url:
        params = stage.ns.StreamableHTTPConnectionParams(url=url, headers=headers, timeout=60)
        toolset = stage.ns.McpToolset(connection_params=params, **how)
        agent = stage.agent("agent", *steps, "Done.", tools=[toolset])
        await stage.open(agent)
        await stage.say()
        await stage.runner.close()


def _bearer(stage, **more):
    scheme, credential = stage.ns.token_to_scheme_credential(
        "oauth2Token", "header", "Authorization", "t1"
    )
    credential.http.additional_headers = more.get("headers")
    return scheme, credential


@case(needs="mcp")
async def an_mcp_server_is_told_who_asks(stage):
    scheme, credential = _bearer(stage, headers={"X-Own": "by the credential"})

    def headers(context):
        return {"X-User": context.user_id, "authorization": "nobody"}

    await _told(
        stage,
        headers={"X-User": "nobody"},
        header_provider=headers,
        auth_scheme=scheme,
        auth_credential=credential,
    )


@case(needs="mcp")
async def headers_for_an_mcp_server_are_missing_or_cannot_be_had(stage):
    headers: list[Any] = [None, None, {"X-User": "u2"}]
    await _told(stage, header_provider=lambda context: headers.pop(0))


@case(needs="mcp")
async def headers_for_an_mcp_server_are_changed_from_outside(stage):
    """A callback changes them each turn, and code gives the toolset another provider."""
    tokens = ["t1", "t2"]

    def renew(callback_context):
        params = toolset._connection_params
        stage.note(params.url == url, toolset._auth_scheme, toolset._auth_credential)
        params.headers = {}
        params.headers["Authorization"] = f"Bearer {tokens.pop(0)}"

    with _served("http") as url:
        params = stage.ns.StreamableHTTPConnectionParams(url=url, timeout=60)
        toolset = stage.ns.McpToolset(connection_params=params)
        answers = (*ASKED[:2], "First.", *ASKED[:2], "Second.")
        agent = stage.agent("agent", *answers, tools=[toolset], before_agent_callback=renew)
        await stage.open(agent)
        await stage.say()
        toolset._header_provider = lambda context: {"X-User": context.user_id}
        await stage.say()
        await stage.runner.close()


@case(differs=CREDENTIALS_ALONE, needs="mcp")
async def an_mcp_server_is_sent_a_credential_without_a_scheme(stage):
    await _told(stage, steps=ASKED[:1], auth_credential=_bearer(stage)[1])


@case("an agent that has called an MCP server is copied", needs="mcp")
async def _copied(stage):
    call_it = call("add", a=1, b=2)
    agent = stage.agent("agent", call_it, "Done.", call_it, "Done.", tools=[server(stage)])
    await stage.open(agent)
    await stage.say()
    agent_copy = agent.model_copy(update={"tools": copy.deepcopy(agent.tools)})
    await stage.runner.close()
    await stage.open(agent_copy)
    await stage.say()
    await stage.runner.close()


async def _confirmed(stage, confirmed, needed):
    agent = stage.agent(
        "agent", CALLS["numbers"], "Done.", tools=[server(stage, require_confirmation=needed)]
    )
    await stage.open(agent)
    await stage.say()
    if confirmed is not None:
        question = stage.call("adk_request_confirmation")
        await stage.say(stage.answer(question, confirmed=confirmed))
    await stage.runner.close()


for _confirmed_by in (True, False):
    _play = partial(_confirmed, confirmed=_confirmed_by, needed=True)
    _word = "allowed" if _confirmed_by else "refused"
    add(Case(f"a call of an MCP tool is {_word} by the user", _play, needs="mcp"))
for _limit in (2, 100):
    _play = partial(
        _confirmed, confirmed=_limit == 2 or None, needed=lambda a, b, limit=_limit: a + b > limit
    )
    add(Case(f"a call of an MCP tool above {_limit} needs consent", _play, needs="mcp"))


RESOURCES: dict[str, list[str]] = {
    "a text": ["today"],
    "a picture": ["dot"],
    "both": ["today", "dot"],
    "one that is not there": ["gone"],
    "nothing": [],
}
for _name, _wanted in RESOURCES.items():
    _answers = [call("load_mcp_resource", resource_names=_wanted)]
    _play = partial(_played, answers=_answers, says=("a", "b"), use_mcp_resources=True)
    add(Case(f"the model reads {_name} of an MCP server", _play, needs="mcp"))


@case(needs="mcp")
async def callbacks_see_calls_of_mcp_tools(stage):
    def before(tool, args, tool_context):
        stage.note("before", tool.name, args)

    def after(tool, args, tool_context, tool_response):
        stage.note("after", tool.name, tool_response)
        tool_context.state["seen"] = tool.name

    agent = stage.agent(
        "agent",
        [CALLS["numbers"]],
        [CALLS["a tool that raises"]],  # not in one batch, where either may be faster
        "Done.",
        tools=[server(stage)],
        before_tool_callback=before,
        after_tool_callback=after,
    )
    await stage.open(agent)
    await stage.say()
    await stage.runner.close()


@case(needs="mcp")
async def sources_of_an_mcp_tool_are_kept(stage):
    await _played(
        stage, [CALLS["a tool that tells of its progress"]], propagate_grounding_metadata=True
    )


@case(needs="mcp")
async def progress_of_an_mcp_tool_is_told(stage):
    async def told(progress, total, message):
        stage.note("progress", progress, total, message)

    await _played(stage, [CALLS["a tool that tells of its progress"]], progress_callback=told)


@case(needs="mcp")
async def tools_are_told_as_those_of_an_mcp_server(stage):
    def plan(city: str, days: int = 2, tags: list[str] | None = None) -> str:
        """Plans a journey."""
        return city

    def rest() -> str:
        """Rests."""
        return "rested"

    for tool in (
        stage.ns.FunctionTool(plan),
        stage.ns.FunctionTool(rest),
        stage.ns.get_user_choice_tool,
    ):
        mcp_tool = stage.ns.adk_to_mcp_tool_type(tool).model_dump(mode="json", exclude_none=True)
        stage.note(mcp_tool["name"], sorted(mcp_tool))
        if tool.name != "get_user_choice":
            stage.note(mcp_tool)


SCHEMAS = {
    "of a text": {
        "type": "STRING",
        "pattern": "a+",
        "min_length": 1,
        "max_length": 9,
        "minimum": 1,
    },
    "of a number": {"type": "NUMBER", "minimum": 0, "maximum": 1.5, "nullable": True},
    "of a choice": {"type": "STRING", "enum": ["a", "b"], "format": "enum", "default": "a"},
    "of a list": {"type": "ARRAY", "items": {"type": "INTEGER"}, "min_items": 1, "max_items": 2},
    "of an object": {
        "type": "OBJECT",
        "title": "Thing",
        "description": "A thing.",
        "required": ["a"],
        "properties": {"a": {"type": "BOOLEAN"}, "b": {"any_of": [{"type": "NULL"}, {}]}},
        "property_ordering": ["b", "a"],
    },
    "of nothing": {},
    "of an unknown type": {"type": "TYPE_UNSPECIFIED", "example": 0},
}


async def _schema(stage, schema):
    json_schema = stage.ns.gemini_to_json_schema(stage.ns.types.Schema.model_validate(schema))
    stage.note(json.loads(json.dumps(json_schema, default=str)))
    try:
        stage.ns.gemini_to_json_schema(schema)
    except TypeError:
        stage.note("refused")


for _name, _given in SCHEMAS.items():
    add(Case(f"a JSON schema {_name}", partial(_schema, schema=_given), needs="mcp"))
