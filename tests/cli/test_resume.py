"""`devui resume` continues what was cut off, with the running server or one of its own."""

import json
import os
import re

import pytest

from tests.kit.debugged_run import DebuggedRun, forget_sessions
from tests.kit.server import running, write_app
from tests.kit.terminal import devui

STEPS = """
from devui.runtime.agents import Agent, SequentialAgent
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.models import Rule, Say, ScriptedLlm


def teller(name):
    return Agent(name=name, model=ScriptedLlm(rules=[Rule(then=Say(f"this is {name}"))]))


root_agent = SequentialAgent(name="steps", sub_agents=[teller("one"), teller("two")])
app = App(
    name="steps", root_agent=root_agent, resumability_config=ResumabilityConfig(is_resumable=True)
)
"""
PAYS = """
import asyncio
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


async def pay() -> str:
    print("paying")
    await asyncio.Event().wait()


script = [Rule(after="pay", then=Say("It is {result}.")), Rule(then=Call("pay"))]
root_agent = Agent(name="payer", model=ScriptedLlm(rules=script), tools=[pay])
"""
FAILS = """
from devui.runtime.agents import BaseAgent
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.events import Event


class Fails(BaseAgent):
    async def _run_async_impl(self, ctx):
        yield Event(author=self.name, message="first")
        raise ValueError("no second time")


root_agent = Fails(name="fails")
app = App(
    name="fails", root_agent=root_agent, resumability_config=ResumabilityConfig(is_resumable=True)
)
"""


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    folder = tmp_path_factory.mktemp("resume")
    for name, code in {"steps": STEPS, "fails": FAILS, "pays": PAYS}.items():
        write_app(folder / "agents", name, code)
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def server(started):
    yield started
    if started.ended:
        started.start()
    with started.client() as client:
        forget_sessions(client)


def cut(client, app, command="stop"):
    """A run cut off after the first text of its agent."""
    debugged = DebuggedRun(client, app).start("go")
    debugged.settled()
    debugged.tell("run_to", like={"kind": "text", "gate": "after_commit"})
    if command:
        debugged.tell(command)
    return debugged


def test_a_stopped_run_is_resumed_and_its_events_are_printed(terminal, client):
    debugged = cut(client, "steps")
    assert debugged.texts() == ["go", "this is one"]
    done = terminal("resume", str(debugged.key), "--as", "Ada")
    assert (done.returncode, done.stderr) == (0, "")
    run = client.get(f"/api/sessions/{debugged.key}/run").json()["run"]
    assert "resumed by Ada" in client.get(f"/runs/{run}/log").text
    assert "this is two" in done.stdout
    assert "this is one" not in done.stdout
    assert done.stdout.splitlines()[-1].startswith("done")
    assert debugged.texts() == ["go", "this is one", "this is two"]


def test_a_call_with_an_unknown_outcome_needs_a_decision(terminal, client):
    debugged = DebuggedRun(client, "pays").start("go")
    debugged.settled()
    with terminal.open("dbg", "attach") as attach:
        attach.until("held")
        debugged.tell("continue", wait=False)
        attach.until("stdout: paying")
    terminal("dbg", "stop")
    refusal = terminal("resume", str(debugged.key))
    assert refusal.returncode == 6
    [call] = re.findall(r"--call (\S+)=WHAT {2}pay\(\), outcome unknown", refusal.stderr)
    wrong = terminal("resume", str(debugged.key), "--call", f"{call}=perhaps")
    assert (wrong.returncode, "ID=run, fail, recorded" in wrong.stderr) == (2, True)
    done = terminal("resume", str(debugged.key), "--call", f'{call}={{"result": "paid"}}')
    assert (done.returncode, "It is paid." in done.stdout) == (0, True)


def test_a_run_of_a_killed_server_is_resumed_without_a_server(terminal, client):
    debugged = cut(client, "steps", command="")
    terminal.server.kill()
    server_file = terminal.server.data / "server.json"
    record = json.loads(server_file.read_text())
    server_file.write_text(json.dumps({**record, "pid": os.getpid()}))  # another process has its id
    refusal = terminal("dbg", "state")
    assert (refusal.returncode, "no server is running on" in refusal.stderr) == (3, True), (
        refusal.stderr
    )
    done = terminal("resume", "--agents", str(terminal.server.agents), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    news = [json.loads(line) for line in done.stdout.splitlines()]
    assert news[-1]["status"] == "done"
    assert not (terminal.server.data / "server.json").exists()
    terminal.server.start()
    with terminal.server.client() as again:
        debugged.client = again
        assert debugged.texts() == ["go", "this is one", "this is two"]


def test_session_and_invocation_can_be_given_by_id(terminal, client):
    debugged = cut(client, "steps")
    done = terminal(
        *("resume", debugged.session, "--app", "steps"),
        *("--invocation", debugged.position["invocationId"]),
    )
    assert (done.returncode, "this is two" in done.stdout) == (0, True)


def test_a_run_that_fails_again_exits_with_1_and_the_reason(terminal, client):
    debugged = cut(client, "fails")
    done = terminal("resume", str(debugged.key))
    assert done.returncode == 1
    assert "ValueError: no second time" in done.stderr


def test_a_session_that_cannot_be_resumed_is_refused_with_the_reason(terminal, client):
    debugged = DebuggedRun(client, "steps").start("go")
    debugged.settled()
    going = terminal("resume", str(debugged.key))
    assert (going.returncode, f"devui dbg attach {debugged.key}" in going.stderr) == (6, True)
    debugged.tell("stop")
    unsaid = terminal("resume", str(debugged.key))
    assert (unsaid.returncode, "send it again" in unsaid.stderr) == (2, True)
    DebuggedRun.start(debugged, "go", pause=False)
    assert debugged.settled()["status"] == "done"
    done = terminal("resume", str(debugged.key))
    assert (done.returncode, "--invocation" in done.stderr) == (2, True)
    assert terminal("resume", "nobody").returncode == 5


def test_resume_without_a_data_folder_creates_nothing(tmp_path):
    done = devui("resume", cwd=tmp_path)
    assert (done.returncode, "no data folder" in done.stderr) == (3, True)
    assert not list(tmp_path.iterdir())


def test_a_missing_app_is_named(terminal, client, tmp_path):
    cut(client, "steps")
    terminal.server.kill()
    (tmp_path / "empty").mkdir()
    done = terminal("resume", "--agents", str(tmp_path / "empty"))
    assert done.returncode == 5
    assert "steps" in done.stderr
