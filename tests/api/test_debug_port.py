"""An editor attaches to an app's process with debugpy, stops it and continues it."""

import json
import socket
import sys
import time

import pytest

from tests.kit.dap_client import DapClient
from tests.kit.debugged_run import DebuggedRun, settled
from tests.kit.patience import PATIENCE
from tests.kit.server import running, write_app
from tests.kit.terminal import Terminal, devui

HTML = {"Accept": "text/html"}
CODE = '''from devui.runtime.agents import LlmAgent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm


async def look(city: str) -> dict:
    """Looks at the sky."""
    weather = "rainy"
    return {"result": weather}


def look_again(city: str) -> dict:
    """Looks at the sky in a thread."""
    weather = "rainy"
    return {"result": weather}


rules = [Rule(after="look", then=Call("look_again", city="Rome")),
         Rule(after="look_again", then=Say("It is {result}.")),
         Rule(then=Call("look", city="Rome"))]
root_agent = LlmAgent(name="guide", tools=[look, look_again], model=ScriptedLlm(rules=rules))
'''
IN_LOOP, IN_THREAD, IN_MODULE = 8, 14, 20
LONGER = 8
"""Seconds: longer than the limit of the run and the patience of the watchdog."""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def connected(port: int) -> DapClient:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return DapClient(port)
        except OSError:
            assert time.monotonic() < until, "nobody listens"
            time.sleep(0.1)


@pytest.mark.slow
def test_time_stopped_in_an_editor_does_not_count_against_limits(tmp_path):
    pytest.importorskip("debugpy")
    file = write_app(tmp_path / "agents", "guide", CODE)
    port = free_port()
    options = [f"--debug-port={port}", "--limit=seconds=4"]
    with (
        running(tmp_path / "agents", tmp_path / "data", *options, fresh=True) as server,
        server.client() as client,
    ):
        page = client.get("/apps/guide", headers=HTML).text
        assert f"Debugger at <b>127.0.0.1:{port}</b>" in page
        assert f"&#34;port&#34;: {port}" in page
        client.get("/apps/guide/agents")
        with connected(port) as editor:
            editor.attach(str(file), IN_LOOP, IN_THREAD)
            debugged = DebuggedRun(client, "guide").start(pause=False)
            for line in (IN_LOOP, IN_THREAD):
                thread = editor.event("stopped")["threadId"]
                stack = editor.request("stackTrace", {"threadId": thread})["stackFrames"]
                assert (stack[0]["line"], stack[0]["source"]["path"]) == (line, str(file))
                time.sleep(LONGER)
                assert client.get(f"/api/runs/{debugged.run}").json()["status"] == "running"
                page = client.get(f"/sessions/{debugged.key}", headers=HTML).text
                assert "debugpy has stopped the agent&#39;s code." in page
                assert "blocking the event loop" not in page
                activity = client.get(f"/api/runs/{debugged.run}/activity").json()
                stopped = {"name": "debugpy", "status": "stopped", "address": None}
                assert activity["debugger"] == stopped
                why = Terminal(server)("dbg", "why").stdout
                assert "debugpy has stopped the agent's code. Continue in your editor." in why
                panel = client.get(f"/sessions/{debugged.key}?tab=run", headers=HTML).text
                assert panel.count("debugpy has stopped the agent&#39;s code.") == 2
                scope = {"frameId": stack[0]["id"], "expression": "weather = 'sunny'"}
                editor.request("evaluate", {**scope, "context": "repl"})
                editor.request("continue", {"threadId": thread})
            assert settled(client, debugged.run)["status"] == "done"
            page = client.get(f"/sessions/{debugged.key}", headers=HTML).text
            assert "It is sunny." in page
            assert "debugpy has stopped" not in page


def its_wait_is_said_wherever_one_looks(server, client, port):
    """By `why` and its JSON, on the page, and by a chat in the terminal that started meanwhile."""
    waits = f"The app is waiting for an editor to attach at 127.0.0.1:{port}."
    terminal = Terminal(server)
    with terminal.open("run", "guide", "hello") as chat:
        assert waits in chat.complaint("waiting for an editor")
        [session] = client.get("/api/sessions", params={"app": "guide"}).json()["sessions"]
        here = ("-s", str(session["key"]))
        assert waits in terminal("dbg", "why", *here).stdout
        [activity] = map(json.loads, terminal("dbg", "why", *here, "--json").stdout.splitlines())
        assert activity["debugger"]["address"] == f"127.0.0.1:{port}"
        page = client.get(f"/sessions/{session['key']}?tab=run", headers=HTML).text
        assert page.count(waits) == 2
        assert "process isn&#39;t responding" not in page
        assert terminal("dbg", "stop", *here).returncode == 0
        status, _ = chat.ended()
        assert status == 1


@pytest.mark.slow
def test_an_app_waits_for_its_editor_and_again_after_a_change(tmp_path):
    pytest.importorskip("debugpy")
    file = write_app(tmp_path / "agents", "guide", CODE)
    write_app(tmp_path / "agents", "other", CODE)
    port = free_port()
    options = [f"--debug-port=guide={port}", "--wait-for-client"]
    with (
        running(tmp_path / "agents", tmp_path / "data", *options, fresh=True) as server,
        server.client() as client,
    ):
        assert DebuggedRun(client, "other").start(pause=False).settled()["status"] == "done"
        client.get("/apps/guide", headers=HTML)
        its_wait_is_said_wherever_one_looks(server, client, port)
        for number in range(2):
            with connected(port) as editor:
                editor.attach(str(file), IN_MODULE)
                thread = editor.event("stopped")["threadId"]
                editor.request("continue", {"threadId": thread})
                debugged = DebuggedRun(client, "guide").start(pause=False)
                assert debugged.settled()["status"] == "done"
            with connected(port) as editor:  # detached, and attached again to the same process
                editor.attach(str(file), IN_LOOP)
                debugged = DebuggedRun(client, "guide").start(pause=False)
                thread = editor.event("stopped")["threadId"]
                editor.request("continue", {"threadId": thread})
                assert debugged.settled()["status"] == "done"
                file.write_text(f"{CODE}# {number}\n", encoding="utf-8")
                editor.until_hung_up()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--debug-port", "5678"], "there are 2 apps, so name one, as in guide=5678"),
        (["--debug-port", "none=5678"], "there is no app 'none' in the agents folder"),
        (["--debug-port", "guide=x"], "give a port from 1 to 65535"),
        (["--wait-for-client"], "--wait-for-client needs --debug-port"),
    ],
)
def test_invalid_debug_port_options_are_refused_at_the_start(tmp_path, options, words):
    for name in ("guide", "other"):
        write_app(tmp_path / "agents", name, CODE)
    done = devui("agents", "--no-browser", "--port", "0", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr


def test_without_debugpy_the_command_says_how_to_install_it(tmp_path):
    write_app(tmp_path / "agents", "guide", CODE)
    # A module with this name that can't be imported hides an installed one.
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nsys.modules['debugpy'] = None\n", encoding="utf-8"
    )
    path = ":".join([str(tmp_path), *filter(None, sys.path)])
    arguments = ("agents", "--no-browser", "--port", "0", "--debug-port", "5678")
    done = devui(*arguments, cwd=tmp_path, PYTHONPATH=path)
    assert done.returncode == 1
    assert "pip install 'devui[debugpy]'" in done.stderr
