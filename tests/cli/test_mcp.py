"""`devui mcp` and `/mcp`: the package's own client hunts a bug, and bad clients do no harm."""

import asyncio
import json
import re
import signal
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Implementation

from devui.mcp.answers import cut, short
from tests.kit import bug_hunt
from tests.kit.debugged_run import settled
from tests.kit.patience import PATIENCE, wait_until
from tests.kit.server import ROOT, TOKEN, running
from tests.kit.terminal import environment

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}
LONG = """
from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Rule, Say, ScriptedLlm


def remember(callback_context):
    rows = [{"text": "short"}, {"text": "y" * 5000 + " END OF ROW"}]
    callback_context.state["blob"] = {"rows": rows}


root_agent = Agent(
    name="reader",
    model=ScriptedLlm(model="scripted", rules=[Rule(then=Say("done"))]),
    instruction="x" * 7000 + " END OF SYSTEM",
    before_agent_callback=remember,
)
"""
"""An app without tools, whose prompt and state are longer than an answer."""
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mcp")
    for name in ("over_stdio", "over_http", "faulty"):
        bug_hunt.copy_of_faulty(folder / "agents", name)
    (folder / "agents" / "long").mkdir()
    (folder / "agents" / "long" / "agent.py").write_text(LONG, encoding="utf-8")
    with running(folder / "agents", folder / "data") as server:
        yield server


def parameters(server) -> StdioServerParameters:
    arguments = ["-m", "devui", "mcp", "--data-dir", str(server.data)]
    return StdioServerParameters(
        command=sys.executable, args=arguments, env=environment(), cwd=server.data.parent
    )


@asynccontextmanager
async def over_stdio(server):
    async with stdio_client(parameters(server)) as streams:
        yield streams


@asynccontextmanager
async def over_http(server):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
        streamable_http_client(f"{server.url}/mcp", http_client=http) as streams,
    ):
        yield streams


class Agent:
    """A coding agent that calls the tools."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session

    async def __call__(self, tool: str, *, fails: bool = False, **arguments) -> str:
        result = await self.session.call_tool(tool, arguments)
        [content] = result.content
        assert bool(result.is_error) == fails, content.text
        return content.text


@asynccontextmanager
async def agent(server, way=over_stdio, name="coder"):
    async with (
        way(server) as streams,
        ClientSession(*streams[:2], client_info=Implementation(name=name, version="1")) as session,
    ):
        await session.initialize()
        yield Agent(session)


@pytest.mark.parametrize("way", [over_stdio, over_http])
async def test_a_coding_agent_finds_and_fixes_the_bug_with_the_tools(server, way):
    """The agent's policy: what_happened, go back from the error, prove with a fork, fix, fork
    again."""
    app = way.__name__
    async with agent(server, way) as call:
        await call("send_message", app=app, message=bug_hunt.QUESTION)
        history = await call("what_happened")
        number = int(re.search(r"session (\d+)", history)[1])
        file, line = re.search(r'File "([^"]+)", line (\d+)', history).groups()

        # The line that raises is not the cause: who wrote the values that it reads?
        keys = bug_hunt.keys_read(bug_hunt.function_at(Path(file), int(line)))
        writes = [await call("state_at", session=number, key=key) for key in keys]
        bad = re.search(r"\(#(\d+)\) \w+ via (\w+): (\S+) → -", "\n".join(writes))
        event, tool, before = int(bad[1]), bad[2], float(bad[3])
        prompt = await call("prompt_at", session=number, event=event)
        argument, value = re.search(r'arguments: \{"(\w+)": (\d+)\}', prompt).groups()

        right = before - before * int(value) / 100
        proven = await call("fork", session=number, event=event, state={keys[0]: right})
        assert bug_hunt.RIGHT in proven

        bug_hunt.mend(*bug_hunt.definition_of(server.agents / app, tool), argument)
        await asyncio.sleep(1)  # the server notices a saved file a moment later
        mended = await call("fork", session=number, event=event - 2, guard="run")
        assert bug_hunt.RIGHT in mended
        assert "done" in mended.splitlines()[-1]

        fork = re.match(r"made session (\d+)", mended)[1]
        assert await call("compare", left=number, right=fork) != "no difference"
        made_test = await call("make_test", session=int(fork), file=f"tests/test_{app}.py")
        if way is over_stdio:
            file = re.search(r"devui test (\S+)", made_test)[1]
            assert (await call("run_tests", paths=[file])).startswith("passed")
            missing = await call("run_tests", paths=["tests/test_none.py"], fails=True)
            assert "there is no file" in missing


async def test_the_tool_descriptions_fit_in_few_tokens(server):
    """A token is about four characters of JSON."""
    async with agent(server) as call:
        response = await call.session.list_tools()
        resources = await call.session.list_resources()
        templates = (await call.session.list_resource_templates()).resource_templates
        [prompt] = (await call.session.list_prompts()).prompts
        text = (await call.session.get_prompt(prompt.name, {"session": "3"})).messages[0].content
    tools = [each.model_dump(by_alias=True, exclude_none=True) for each in response.tools]
    assert len(json.dumps(tools)) / 4 < 2500
    assert 12 <= len(tools) <= 14
    assert all(each["description"] for each in tools)
    guide = (ROOT / "docs" / "guide" / "coding-agents.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", guide, re.MULTILINE)) == {t["name"] for t in tools}
    assert resources is not None
    assert [each.uri_template for each in templates] == [
        "devui://sessions/{session}",
        "devui://sessions/{session}/events/{event}",
    ]
    names = set(re.findall(r"\b[a-z]+_[a-z]+\b", text.text))
    assert names <= {each["name"] for each in tools}


async def test_answers_say_what_is_omitted_and_errors_what_to_do(server):
    async with agent(server, over_http) as call:
        await call("send_message", app="faulty", message="hello")
        assert "6 characters" not in await call("what_happened")
        assert "1 earlier event: use after=0" in await call("what_happened", limit=1)
        assert "1 more event: use after=1" in await call("what_happened", after=0, limit=1)
        assert "available: " in await call("show_event", event=1, path="content.text", fails=True)
        assert "send_message" in await call("control_run", command="continue", fails=True)
        done = await call("control_run", command="resume", fails=True)
        assert "is done, so nothing is left to resume" in done
        over = await call("control_run", command="continue", fails=True)
        assert over == "the run is already done; use send_message or fork"
        assert "Arguments of show_event" in await call("show_event", fails=True)
        assert "list_sessions" in await call("state_at", session=999, fails=True)
        assert "what_happened" in await call("what_happend", fails=True)
        number = re.match(r"session (\d+)", await call("what_happened"))[1]
        read = await call.session.read_resource(f"devui://sessions/{number}/events/1")
        assert json.loads(read.contents[0].text)["author"] == "user"
    assert cut("x" * 10, "ask again", most=4) == "xxxx\n… 6 more characters; ask again"
    assert short([{"a": "x" * 400, "b": None}] * 22)[-1] == "… 2 more"
    assert short("x" * 400).endswith("… 100 more characters")


async def test_truncated_values_can_be_read_to_the_end(server):
    async with agent(server, over_http) as call:
        await call("send_message", app="long", message="z" * 8000 + " END OF MESSAGE")
        history = await call("what_happened")
        event = int(re.findall(r"#(\d+) text", history)[-1])

        prompt = await call("prompt_at", event=event)
        assert "use path=system" in prompt
        assert "use path=contents[0]" in prompt
        assert "END OF" not in prompt
        system = await call("prompt_at", event=event, path="system")
        assert "use start" in system
        assert "END OF SYSTEM" in await call("prompt_at", event=event, path="system", start=5000)
        last_part = await call("prompt_at", event=event, path="contents[0]", start=5000)
        assert "END OF MESSAGE" in last_part
        assert "available: " in await call("prompt_at", event=event, path="tols", fails=True)

        assert "END OF ROW" not in await call("state_at", key="blob")
        row = await call("state_at", key="blob", path="rows[1].text")
        assert row.startswith('blob rows[1].text = "yyy')
        rest = await call("state_at", key="blob", path="rows[1].text", start=4000)
        assert "END OF ROW" in rest
        assert 'rows[0].text = "short"' in await call("state_at", key="blob", path="rows[0].text")
        assert "available: 0, 1" in await call("state_at", key="blob", path="rows[7]", fails=True)


async def test_errors_about_missing_things_are_specific(server):
    async with agent(server, over_http) as call:
        await call("send_message", app="faulty", message=bug_hunt.QUESTION)
        assert "no event #99" in await call("prompt_at", event=99, fails=True)
        assert "the user sent it" in await call("prompt_at", event=1, fails=True)
        assert "it is an error" in await call("prompt_at", event=7, fails=True)
        assert "-756.0 has no members" in await call("state_at", key="bill", path="a", fails=True)
        assert "no earlier prompt" in await call("prompt_at", event=2, diff=True, fails=True)
        sessions = await call("list_sessions", find="split")
        assert "#1 user user: Split the bill of table 7" in sessions
        number = re.search(r"session (\d+)", sessions)[1]
        with server.client() as client:
            client.patch(f"/api/sessions/{number}/tags", json={"add": ["Bug", "slow"]})
        for query in ({"tag": "bug"}, {"tag": "bug", "app": "faulty", "status": "failed"}):
            listing = await call("list_sessions", **query)
            assert f"session {number} (faulty" in listing
            assert ", tags: Bug, slow)" in listing
        assert f"session {number} " in await call("list_sessions", find="tag:bug")
        assert "no sessions" in await call("list_sessions", tag="fast")
        assert "no app nope" in await call("list_sessions", app="nope", fails=True)
        assert "no app nope" in await call("breakpoints", action="list", app="nope", fails=True)
        answer = await call("breakpoints", action="remove", app="faulty", number=999, fails=True)
        assert "999" in answer
        for wrong in (-1, 0):
            refusal = await call("show_event", session=wrong, event=1, fails=True)
            assert refusal.startswith("session: ")
        assert "Unknown kind" in await call("what_happened", filter="kind:(", fails=True)


async def test_a_run_is_held_edited_and_finished_with_the_tools(server):
    async with agent(server, over_http) as call:
        await call("breakpoints", action="add", app="faulty", on="state", condition="new < 0")
        held = await call("send_message", app="faulty", message=bug_hunt.QUESTION)
        assert "would write bill: 84.0 → -756.0" in held
        change = {"actions": {"stateDelta": {"bill": 75.6}}}
        wrong = await call("control_run", command="edit", value={"content": 5}, fails=True)
        assert "the change doesn't fit: content" in wrong
        edit = await call("control_run", command="edit", value=change)
        instead = "would write bill: 84.0 → 75.6, edited: the code wrote -756.0"
        assert instead in edit
        assert 'edit by mcp:coder: {"actions": {"stateDelta": {"bill": 75.6}}}' in edit
        assert "bill: 84.0 → 75.6, edited" in await call("state_at", key="bill")
        half = await call("control_run", command="half")
        assert "wrote bill: 84.0 → 75.6" in half
        assert "would write" not in half
        assert bug_hunt.RIGHT in await call("control_run", command="continue")
        assert "edit by mcp:coder" in await call("what_happened")
        number = re.match(r"(\d+):", await call("breakpoints", action="list", app="faulty"))[1]
        answer = await call("breakpoints", action="remove", app="faulty", number=int(number))
        assert answer == "no breakpoints"


async def test_a_run_held_by_a_vanished_client_can_be_taken_over(server):
    async with over_http(server) as streams:
        info = Implementation(name="ghost", version="1")
        async with ClientSession(*streams[:2], client_info=info) as session:
            await session.initialize()
            arguments = {"app": "faulty", "message": bug_hunt.QUESTION, "pause": True}
            held = await session.call_tool("send_message", arguments)
    key = int(re.search(r"session (\d+): held", held.content[0].text)[1])
    with server.client() as person:
        page = person.get(f"/sessions/{key}", headers={"Accept": "text/html"}).text
        assert re.search(r"Paused by</span> <span[^>]*>mcp:ghost<", page)
        at = person.get(f"/api/sessions/{key}/run").json()
        assert at["status"] == "held"
        order = {"command": "stop", "key": "k", "position": at["position"], "actor": "Ada"}
        assert person.post(f"/api/runs/{at['run']}/commands", json=order).status_code == 200


def speak(server, *lines: str) -> list[dict]:
    """What `devui mcp` answers to these lines before its input ends."""
    client = parameters(server)
    done = subprocess.run(
        [client.command, *client.args],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        env=client.env,
        cwd=client.cwd,
        timeout=PATIENCE,
        check=True,
    )
    assert "Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_nonsense_over_stdio_does_not_end_the_server(server):
    nonsense = [
        "not JSON",
        "[]",
        "{}",
        '{"jsonrpc": "2.0", "id": 7, "method": "no/such"}',
        "\ud7ff",
    ]
    answers = speak(server, *nonsense, json.dumps(INITIALIZE))
    assert answers[-1]["result"]["serverInfo"]["name"] == "devui"


def test_calls_with_odd_parameters_are_answered(server):
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    call = {"jsonrpc": "2.0", "method": "tools/call"}
    half = {"name": "list_sessions", "arguments": {"app": "\ud800"}}
    calls = [{**call, "id": 8, "params": half}, {**call, "id": 9, "params": "x"}]
    with begun(server, initialized, *calls) as process:
        responses = [json.loads(process.stdout.readline()) for _ in calls]
        answers = {each["id"]: each for each in responses}
        process.stdin.close()
    assert "there is no app \N{REPLACEMENT CHARACTER}" in str(answers[8]["result"]["content"])
    assert "error" in answers[9]


def test_sessions_of_vanished_clients_make_room_for_others(server):
    with server.client() as client:

        def opened() -> dict:
            answer = client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
            assert answer.status_code == 200
            return {**ACCEPT, "Mcp-Session-Id": answer.headers["Mcp-Session-Id"]}

        def ping(headers: dict) -> int:
            body = {"jsonrpc": "2.0", "id": 3, "method": "ping"}
            return client.post("/mcp", json=body, headers=headers).status_code

        used, vanished = opened(), opened()
        for _ in range(70):
            newest = opened()
            assert ping(used) == 200
        assert (ping(vanished), ping(newest)) == (404, 200)


def begun(server, *messages: dict) -> subprocess.Popen[str]:
    """`devui mcp` with a client that has sent these messages and keeps its input open."""
    client = parameters(server)
    process = subprocess.Popen(
        [client.command, *client.args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=client.env,
        cwd=client.cwd,
    )
    process.stdin.write("".join(f"{json.dumps(each)}\n" for each in (INITIALIZE, *messages)))
    process.stdin.flush()
    process.stdout.readline()
    return process


@pytest.mark.parametrize("way", ["Ctrl-C", "end of input"])
def test_it_exits_at_once_while_a_call_waits_for_a_run(server, way):
    arguments = {"app": "faulty", "message": "loop forever"}
    call = {"name": "send_message", "arguments": arguments}
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    request = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    with server.client() as client, begun(server, initialized, request) as process:

        def going() -> list[dict]:
            rows = client.get("/api/sessions").json()["sessions"]
            return [each for each in rows if each["run"]]

        wait_until(going)
        newest = going()[0]
        before = time.monotonic()
        if way == "Ctrl-C":
            process.send_signal(signal.SIGINT)
        else:
            process.stdin.close()
        status = process.wait(PATIENCE)
        assert status == (130 if way == "Ctrl-C" else 0)
        assert time.monotonic() - before < 10
        assert process.stderr.read() == ""
        at = client.get(f"/api/sessions/{newest['key']}/run").json()
        assert at["status"] == "running"
        client.post(f"/api/runs/{at['run']}/commands", json={"command": "stop", "key": way})
        assert settled(client, at["run"])["status"] == "stopped"


def test_without_a_server_a_call_says_how_to_start_one(tmp_path):
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "list_sessions", "arguments": {}},
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "devui", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
        cwd=tmp_path,
    )
    with process:
        for message in (INITIALIZE, initialized, call):
            process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        process.stdout.readline()
        answer = json.loads(process.stdout.readline())
    assert answer["result"]["isError"]
    assert "Start one there with `devui AGENTS_DIR`" in answer["result"]["content"][0]["text"]


def test_http_accepts_only_valid_messages_with_the_token(server):
    with server.client() as client:
        del client.headers["Authorization"]
        assert client.post("/mcp", json=INITIALIZE, headers=ACCEPT).status_code == 401
        page = client.get("/llms.txt")
        assert page.status_code == 200
        assert "devui mcp" in page.text
    with server.client() as client:
        assert client.get("/mcp").status_code == 405
        assert client.post("/mcp", json=[1], headers=ACCEPT).status_code == 400
        json_headers = {**ACCEPT, "Content-Type": "application/json"}
        assert client.post("/mcp", content=b"{", headers=json_headers).status_code == 400
        assert (
            client.post("/mcp", content=b"x" * 1_100_000, headers=json_headers).status_code == 413
        )
        foreign = {**ACCEPT, "Origin": "http://evil.example"}
        assert client.post("/mcp", json=INITIALIZE, headers=foreign).status_code == 403
        unknown = {**ACCEPT, "Mcp-Session-Id": "nobody"}
        assert client.post("/mcp", json=INITIALIZE, headers=unknown).status_code == 404


async def test_a_client_that_leaves_during_a_call_does_no_harm(server):
    with server.client() as client:
        response = client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
        session = {**ACCEPT, "Mcp-Session-Id": response.headers["Mcp-Session-Id"]}
        before = max(
            (each["key"] for each in client.get("/api/sessions").json()["sessions"]), default=0
        )
    loop = {"app": "faulty", "message": "loop forever"}
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "send_message", "arguments": loop},
    }
    headers = {**session, "Authorization": f"Bearer {TOKEN}"}
    async with httpx2.AsyncClient(base_url=server.url) as leaving:
        with pytest.raises(httpx2.ReadTimeout):
            await leaving.post("/mcp", json=call, headers=headers, timeout=1.5)
    with server.client() as client:
        newest = client.get("/api/sessions").json()["sessions"][0]
        assert newest["key"] > before
        at = client.get(f"/api/sessions/{newest['key']}/run").json()
        assert at["status"] == "running"
        client.post(f"/api/runs/{at['run']}/commands", json={"command": "stop", "key": "k"})
        assert settled(client, at["run"])["status"] == "stopped"
        ping = {"jsonrpc": "2.0", "id": 3, "method": "ping"}
        assert client.post("/mcp", json=ping, headers=session).json()["result"] == {}
