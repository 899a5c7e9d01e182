"""A run that never ends by itself is ended, and the server keeps running (R34)."""

import re
import time

import pytest

from tests.faults.misbehaving_agents import AGENTS, FLOOD
from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import TOKEN, running, write_app
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
SECONDS = 8
LIMITS = {"events": 40, "calls": 10, "runs": 3, "megabytes": 1}
LARGE = FLOOD.replace('x" * (n % 99)', 'x" * 200_000')
APPS = {"spins": SPINS, "flood": FLOOD, "large": LARGE} | {
    name: AGENTS[name] for name in ("fine", "sleeps")
}


def served(folder, limits):
    for name, code in APPS.items():
        write_app(folder / "agents", name, code)
    options = [f"--limit={name}={most}" for name, most in limits.items()]
    return running(folder / "agents", folder / "data", *options)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A client of a server without a time limit, however slow the machine is."""
    with served(tmp_path_factory.mktemp("limits"), LIMITS) as server, server.client() as client:
        yield client


@pytest.fixture(scope="module")
def hasty(tmp_path_factory):
    """A client of a server that limits only the time."""
    folder = tmp_path_factory.mktemp("time")
    with served(folder, {"seconds": SECONDS}) as server, server.client() as client:
        yield client


def ended(client, app, words):
    """The events of a run that reached its limit, which its page reports in these words."""
    debugged = DebuggedRun(client, app).start(pause=False)
    while client.get(f"/api/runs/{debugged.run}").json()["status"] == "running":
        assert client.get("/health").status_code == 200
    assert debugged.settled()["status"] == "failed"
    page = client.get(f"/sessions/{debugged.key}", headers=HTML).text
    assert words in page
    assert page.count("The run reached its limit") == 2, "in the timeline and in the chat"
    assert debugged.position["error"]["type"] == "RunLimited"
    again = DebuggedRun(client, "fine").start(pause=False)
    assert again.settled()["status"] == "done"
    return debugged.kept()["events"]


@pytest.mark.parametrize(
    ("app", "words"),
    [
        ("spins", "its limit of 10 tool calls"),
        ("flood", "its limit of 40 events"),
        ("large", "its limit of 1 megabytes"),
    ],
)
def test_an_endless_run_is_ended_at_its_limit_with_the_reason(client, app, words):
    events = ended(client, app, words)
    calls = str(events).count("'functionCall'")
    assert (len(events) <= LIMITS["events"], calls <= LIMITS["calls"]) == (True, True)


def test_an_idle_run_is_ended_at_the_time_limit(hasty, tmp_path):
    [first] = [
        event
        for event in ended(hasty, "sleeps", f"its limit of {SECONDS} seconds")
        if event["author"] != "user"
    ]
    assert first["content"]["parts"][0]["text"] == "begun"
    [row] = hasty.get("/api/sessions", params={"app": "sleeps"}).json()["sessions"]
    reach = ("-s", str(row["key"]), "--url", str(hasty.base_url), "--token", TOKEN)
    output = devui("dbg", "where", *reach, cwd=tmp_path).stdout
    assert f"RunLimited: the run reached its limit of {SECONDS} seconds" in output


def test_time_held_does_not_count_against_the_time_limit(hasty):
    debugged = DebuggedRun(hasty, "fine").start()
    debugged.settled()
    time.sleep(SECONDS + 0.5)
    assert debugged.tell("continue")["status"] == "done"


def test_runs_above_the_limit_are_refused(client):
    held = [DebuggedRun(client, "fine").start() for _ in range(LIMITS["runs"])]
    late = DebuggedRun(client, "fine")
    refusal = client.post(f"/api/sessions/{late.key}/runs", json={"message": "go"})
    assert refusal.status_code == 409
    assert re.search(r"which is the limit.*--limit runs=\d+", refusal.text)
    assert "a run over the limit" in client.get("/", headers=HTML).text
    held[0].settled()
    assert held[0].tell("continue")["status"] == "done"
    assert late.start(pause=False).settled()["status"] == "done"
    for each in held[1:]:
        each.settled()
        assert each.tell("continue")["status"] == "done"


@pytest.mark.parametrize("wrong", ["events", "events=", "events=0", "events=-1", "cost=3", "=4"])
def test_an_invalid_limit_is_refused_in_one_line(tmp_path, wrong):
    done = devui(".", "--no-browser", f"--limit={wrong}", cwd=tmp_path)
    assert done.returncode == 2
    assert repr(wrong) in done.stderr
    assert "Traceback" not in done.stderr
