"""A run that never ends by itself is ended, and the server goes on (R34)."""

import time

import pytest

from tests.faults.zoo import AGENTS, FLOOD
from tests.kit.debugged import Debugged
from tests.kit.server import running, write_app
from tests.kit.terminal import devui

pytestmark = pytest.mark.req("R34")

HTML = {"Accept": "text/html"}
SPINS = """
from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Call, Rule, ScriptedLlm

def one() -> dict:
    return {"n": 1}

model = ScriptedLlm(rules=[Rule(then=[Call("one"), Call("one")])])
root_agent = Agent(name="spins", tools=[one], model=model)
"""
LIMITS = {"events": 40, "calls": 10, "seconds": 8, "runs": 3}
LARGE = FLOOD.replace('x" * (n % 99)', 'x" * 200_000')


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("limits")
    apps = {"spins": SPINS, "flood": FLOOD, "large": LARGE}
    for name, code in {**apps, "fine": AGENTS["fine"], "sleeps": AGENTS["sleeps"]}.items():
        write_app(folder / "agents", name, code)
    options = [f"--limit={name}={most}" for name, most in {**LIMITS, "megabytes": 1}.items()]
    with running(folder / "agents", folder / "data", *options) as started:
        yield started


@pytest.fixture
def client(server):
    with server.client() as opened:
        yield opened


@pytest.mark.parametrize(
    ("app", "words"),
    [
        ("spins", "at its limit of 10 calls of tools"),
        ("flood", "at its limit of 40 events"),
        ("large", "at its limit of 1 megabytes"),
        ("sleeps", "at its limit of 8 seconds at work"),
    ],
)
def test_a_run_without_end_is_ended_at_its_limit_and_told_why(client, app, words):
    debugged = Debugged(client, app).start(pause=False)
    while client.get(f"/api/runs/{debugged.run}").json()["status"] == "running":
        assert client.get("/health").status_code == 200
    assert debugged.settled()["status"] == "failed"
    events = debugged.kept()["events"]
    assert words in client.get(f"/sessions/{debugged.key}", headers=HTML).text
    calls = str(events).count("'functionCall'")
    assert (len(events) <= LIMITS["events"], calls <= LIMITS["calls"]) == (True, True)
    again = Debugged(client, "fine").start(pause=False)
    assert again.settled()["status"] == "done"


def test_time_for_which_a_run_is_held_is_no_time_at_work(client):
    debugged = Debugged(client, "fine").start()
    debugged.settled()
    time.sleep(LIMITS["seconds"] + 0.5)
    assert debugged.tell("continue")["status"] == "done"


def test_so_many_runs_go_on_at_once_and_no_more(client):
    held = [Debugged(client, "fine").start() for _ in range(LIMITS["runs"])]
    late = Debugged(client, "fine")
    refused = client.post(f"/api/sessions/{late.key}/runs", json={"message": "go"})
    assert (refused.status_code, "which is the limit" in refused.text) == (409, True)
    held[0].settled()
    assert held[0].tell("continue")["status"] == "done"
    assert late.start(pause=False).settled()["status"] == "done"
    for each in held[1:]:
        each.settled()
        assert each.tell("continue")["status"] == "done"


@pytest.mark.parametrize("wrong", ["events", "events=", "events=0", "events=-1", "cost=3", "=4"])
def test_what_is_no_limit_is_refused_in_one_line(tmp_path, wrong):
    done = devui(".", "--no-browser", f"--limit={wrong}", cwd=tmp_path)
    assert done.returncode != 0
    assert repr(wrong) in done.stderr
    assert "Traceback" not in done.stderr
