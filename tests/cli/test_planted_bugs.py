"""A coding agent finds and fixes bugs from a user's complaint, with the tools and the shell."""

import asyncio
import json
import re
import sys
from contextlib import asynccontextmanager

import pytest
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import Implementation

from tests.kit.planted_bugs import (
    BUGS,
    Row,
    ToolCall,
    Write,
    cause_of,
    last_answer,
    mend,
    write,
)
from tests.kit.server import running
from tests.kit.terminal import Terminal, environment


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    for way in WAYS:
        for bug in BUGS:
            write(folder / "agents", bug, f"{bug.app}_{way}")
    with running(folder / "agents", folder / "data") as server:
        yield server


class Tools:
    """Uses devui through the tools for coding agents."""

    def __init__(self, session: ClientSession) -> None:
        self._session = session

    async def _call(self, tool, **arguments) -> str:
        result = await self._session.call_tool(tool, arguments)
        [content] = result.content
        assert not result.is_error, content.text
        return content.text

    async def ask(self, app, messages):
        await self._call("send_message", app=app, message=messages[0])
        for message in messages[1:]:
            await self._call("send_message", message=message)
        return int(re.search(r"session (\d+)", await self._call("what_happened"))[1])

    async def rows(self, session, filter_text=""):
        history = await self._call("what_happened", session=session, filter=filter_text)
        matches = re.findall(r"^#(\d+) (\w+) \w+: (.*)$", history, re.MULTILINE)
        return [Row(int(number), kind, text) for number, kind, text in matches]

    async def state(self, session):
        text = await self._call("state_at", session=session)
        matches = re.findall(r"^(\w+) = (.+) \(#\d+\)$", text, re.MULTILINE)
        return {key: json.loads(value) for key, value in matches}

    async def writes(self, session, key):
        text = await self._call("state_at", session=session, key=key)
        matches = re.findall(r"^\(#(\d+)\) \w+ via (\w+): .* → (.+)$", text, re.MULTILINE)
        return [Write(int(number), tool, json.loads(value)) for number, tool, value in matches]

    async def call(self, session, event):
        text = await self._call("prompt_at", session=session, event=event)
        name = re.search(r"tool (\w+)", text)[1]
        args, result = (
            json.loads(re.search(rf"^{part}: (.*)$", text, re.MULTILINE)[1])
            for part in ("arguments", "result")
        )
        return ToolCall(name, args, result)

    async def response(self, session, event):
        path = "content.parts[0].functionResponse.response"
        return json.loads(await self._call("show_event", session=session, event=event, path=path))

    async def lost(self, session, event):
        text = await self._call("prompt_at", session=session, event=event, diff=True)
        return re.findall(r"^  - (.*)$", text, re.MULTILINE)

    async def fork(self, session, event, state=None):
        change = {"state": dict(state)} if state else {}
        text = await self._call("fork", session=session, event=event, guard="run", **change)
        return int(re.match(r"made session (\d+)", text)[1])


class Shell:
    """Uses devui through `devui dbg --json`."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    async def _lines(self, *arguments):
        done = await asyncio.to_thread(self._terminal, *map(str, arguments), "--json")
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    async def ask(self, app, messages):
        at = await self._lines("dbg", "start", "--new", app, "--no-pause", messages[0])
        session = at[-1]["session"]
        for message in messages[1:]:
            await self._lines("dbg", "start", "-s", session, "--no-pause", message)
        return session

    async def rows(self, session, filter_text=""):
        options = ("--filter", filter_text) if filter_text else ()
        rows = await self._lines("dbg", "events", "-s", session, *options)
        return [Row(row["number"], row["kind"], row["text"]) for row in rows]

    async def state(self, session):
        [state] = await self._lines("dbg", "state", "-s", session)
        return {each["key"]: each["value"] for each in state["values"]}

    async def writes(self, session, key):
        [history] = await self._lines("dbg", "blame", key, "-s", session)
        return [Write(each["number"], each["tools"][0], each["new"]) for each in history["writes"]]

    async def call(self, session, event):
        [call] = await self._lines("dbg", "prompt", event, "-s", session)
        return ToolCall(call["name"], call["sent"], call["result"])

    async def response(self, session, event):
        [event_json] = await self._lines("dbg", "event", event, "-s", session)
        return event_json["content"]["parts"][0]["functionResponse"]["response"]

    async def lost(self, session, event):
        [prompt] = await self._lines("dbg", "prompt", event, "--diff", "-s", session)
        pieces = [piece for block in prompt["blocks"] for piece in block["pieces"]]
        return [piece["text"] for piece in pieces if piece["kind"] == "removed"]

    async def fork(self, session, event, state=None):
        change = ("--state", json.dumps(state)) if state else ()
        lines = await self._lines(
            *("dbg", "fork", event, "-s", session, "--run", "--guard", "run"), *change
        )
        return lines[0]["key"]


@asynccontextmanager
async def tools(server):
    arguments = ["-m", "devui", "mcp", "--data-dir", str(server.data)]
    command = StdioServerParameters(
        command=sys.executable, args=arguments, env=environment(), cwd=server.data.parent
    )
    name = Implementation(name="coder", version="1")
    async with (
        stdio_client(command) as streams,
        ClientSession(*streams[:2], client_info=name) as session,
    ):
        await session.initialize()
        yield Tools(session)


@asynccontextmanager
async def shell(server):
    yield Shell(Terminal(server))


WAYS = {"tools": tools, "shell": shell}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.app)
async def test_the_bug_is_found_from_the_complaint_alone_and_fixed(server, way, bug):
    app = f"{bug.app}_{way}"
    code = server.agents / app / "agent.py"
    async with WAYS[way](server) as hands:
        session = await hands.ask(app, bug.messages)
        assert bug.right not in last_answer(await hands.rows(session)).text

        cause = await cause_of(hands, session, bug.complaint, code)
        assert cause.function == bug.function
        if cause.proof is not None:
            assert bug.right in last_answer(await hands.rows(cause.proof)).text

        mend(code, bug, cause.function)
        mended = await hands.fork(session, cause.before)
        assert bug.right in last_answer(await hands.rows(mended)).text
