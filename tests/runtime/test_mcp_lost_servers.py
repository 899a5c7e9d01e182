"""MCP servers that hang, die or lose their sessions, and unusual headers (adk-runtime 8.9)."""

import asyncio
import os
import signal
import sys
import time
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import psutil
import pytest

from devui.runtime.auth import AuthCredential, AuthCredentialTypes, HttpAuth, HttpCredentials
from devui.runtime.auth.auth_schemes import HTTPBase
from devui.runtime.models import Call, Rule, Say
from devui.runtime.runners import InMemoryRunner
from tests.source import ROOT

mcp = pytest.importorskip("mcp")
from devui.runtime.tools.mcp_tool import (  # noqa: E402  only where mcp is installed
    McpToolset,
    SseConnectionParams,
    StdioConnectionParams,
    StreamableHTTPConnectionParams,
    mcp_session_manager,
)
from tests.runtime.test_mcp_toolset import STDIO, agent, responses, served, text  # noqa: E402

pytestmark = pytest.mark.slow

ODD = mcp.StdioServerParameters(
    command=sys.executable, args=[str(ROOT / "tests" / "kit" / "odd_mcp_server.py")]
)
KINDS = {"http": StreamableHTTPConnectionParams, "sse": SseConnectionParams}


def odd(timeout: float = 60) -> McpToolset:
    return McpToolset(connection_params=StdioConnectionParams(server_params=ODD, timeout=timeout))


async def test_a_call_that_times_out_is_an_error_for_the_model():
    hung, mumbled = await responses(odd(timeout=8), Call("hang"), Call("mumble"))
    assert "timed out" in hung["error"]
    assert text(mumbled) == "well", "the server is still there"


async def test_a_result_that_violates_its_schema_is_an_error_for_the_model():
    [lied] = await responses(odd(), Call("lie"))
    assert lied["error"].startswith("The MCP tool 'lie' failed:")
    assert "output schema" in lied["error"]


async def test_a_call_that_cannot_be_sent_does_not_affect_others():
    [failure, other] = await responses(odd(), Call("hang", n="\ud83d"), Call("mumble"))
    assert r"'\ud83d' contains a lone surrogate" in failure["error"]
    assert text(other) == "well"


@pytest.mark.parametrize("kind", KINDS)
async def test_a_call_over_http_has_the_timeout_of_its_event_stream(kind):
    with served(kind) as url:
        params = KINDS[kind](url=url, timeout=60, sse_read_timeout=2)
        [hung] = await responses(McpToolset(connection_params=params), Call("rest", seconds=30))
    assert hung["error"].startswith("The MCP tool 'rest' failed:")


async def test_a_server_that_timed_out_is_killed_when_its_toolset_is_closed():
    def children() -> list[psutil.Process]:
        matches = []
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):  # it has just exited
                matches += [child] if mark in child.cmdline() else []
        return matches

    mark = "deaf"
    deaf = mcp.StdioServerParameters(
        command=sys.executable, args=["-c", "import time; time.sleep(60)", mark]
    )
    params = StdioConnectionParams(server_params=deaf, timeout=0.2)
    toolset = McpToolset(connection_params=params)
    with pytest.raises(ConnectionError, match=r"within 0\.2 seconds"):
        await toolset.get_tools()
    assert children()
    await toolset.close()
    assert not children()


def port_of(url: str) -> str:
    return str(urlsplit(url).port)


def killing(toolset, victim: str = "who_am_i"):
    """Return a tool callback that kills the server after a call and waits until it is noticed."""

    async def kill(tool, args, tool_context, tool_response):
        if tool.name != victim:
            return
        pid = int(text(tool_response))
        os.kill(pid, signal.SIGKILL)
        psutil.wait_procs([psutil.Process(pid)] if psutil.pid_exists(pid) else [])
        [connection] = toolset._mcp_session_manager._connections.values()
        deadline = time.monotonic() + 30
        while not connection.is_over and time.monotonic() < deadline:  # noqa: ASYNC110  no event
            await asyncio.sleep(0.02)

    return kill


async def test_a_server_that_dies_between_two_calls_is_restarted():
    toolset = McpToolset(connection_params=STDIO)
    rules = [
        Rule(user="go", then=Call("who_am_i")),
        Rule(after="who_am_i", then=Call("add", a=1, b=1)),
        Rule(after="add", then=Say("done")),
    ]
    root = agent(toolset, *reversed(rules), after_tool_callback=killing(toolset))
    async with InMemoryRunner(agent=root) as runner:
        events = await runner.run_debug("go", quiet=True)
    [_, added] = [r.response for event in events for r in event.get_function_responses()]
    assert text(added) == "2"


async def test_a_call_that_the_server_may_have_received_is_not_repeated(tmp_path):
    mark = tmp_path / "mark"
    toolset = McpToolset(connection_params=STDIO)
    [response] = await responses(toolset, Call("leave", mark=str(mark)))
    assert response["error"].startswith("The MCP tool 'leave' failed:")
    assert mark.read_text() == "left "


@pytest.mark.parametrize("kind", KINDS)
async def test_a_restarted_server_can_be_listed_and_called(kind):
    with served(kind) as url:
        toolset = McpToolset(connection_params=KINDS[kind](url=url, timeout=60))
        before = await toolset.get_tools()
    with served(kind, port_of(url)):
        assert [t.name for t in await toolset.get_tools()] == [t.name for t in before]
        [added] = await responses(toolset, Call("add", a=1, b=1))
        assert text(added) == "2"


@pytest.mark.parametrize("kind", KINDS)
async def test_calls_are_made_in_a_new_session_if_the_server_forgot_the_old_one(kind):
    with ExitStack() as first, ExitStack() as second:
        url = first.enter_context(served(kind))
        toolset = McpToolset(connection_params=KINDS[kind](url=url, timeout=60))

        async def restart(tool, args, tool_context):
            if args["a"] == 1:
                first.close()
                second.enter_context(served(kind, port_of(url)))
            await asyncio.sleep(0.2)  # for the end of the event stream to be noticed

        calls = [Call("add", a=1, b=1), Call("add", a=2, b=1)]
        answers = await responses(toolset, *calls, before_tool_callback=restart)
    assert [text(each) for each in answers] == ["2", "3"]


@pytest.mark.parametrize(("kept_for", "connections"), [(900.0, 2), (0.0, 1)])
async def test_idle_connections_are_closed(monkeypatch, kept_for, connections):
    """Each new token gets a new connection, and the previous one is no longer needed."""
    monkeypatch.setattr(mcp_session_manager, "_IDLE_SECONDS", kept_for)
    open_then = []

    async def count(tool, args, tool_context, tool_response):
        open_then.append(len(toolset._mcp_session_manager._connections))

    with served("http") as url:
        toolset = McpToolset(
            connection_params=StreamableHTTPConnectionParams(url=url, timeout=60),
            header_provider=lambda context: {"X-Token": next(tokens)},
        )
        tokens = iter("ab")
        [token] = await responses(
            toolset, Call("header", name="x-token"), after_tool_callback=count
        )
    assert (text(token), open_then) == ("b", [connections])


async def test_a_header_provider_may_return_none_and_its_errors_reach_the_model():
    headers: list = [None, None]
    with served("http") as url:
        toolset = McpToolset(
            connection_params=StreamableHTTPConnectionParams(url=url, timeout=60),
            header_provider=lambda context: headers.pop(0),
        )
        [added] = await responses(toolset, Call("add", a=1, b=1))
        headers.append(None)  # for the list of tools
        [failed] = await responses(toolset, Call("fail"))
    assert text(added) == "2"
    assert failed["error"].startswith("The MCP tool 'fail' failed: pop from empty list")


async def test_a_credential_may_consist_of_headers_only():
    own = HttpAuth(
        scheme="custom", credentials=HttpCredentials(), additional_headers={"X-Own": "o"}
    )
    with served("http") as url:
        toolset = McpToolset(
            connection_params=StreamableHTTPConnectionParams(url=url, timeout=60),
            auth_scheme=HTTPBase(scheme="custom"),
            auth_credential=AuthCredential(auth_type=AuthCredentialTypes.HTTP, http=own),
        )
        calls = [Call("header", name=name) for name in ("x-own", "authorization")]
        assert [text(each) for each in await responses(toolset, *calls)] == ["o", ""]
