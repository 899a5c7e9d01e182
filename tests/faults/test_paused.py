"""Suspended processes: nobody takes over, and nothing is lost (R38, R52)."""

import signal
import time

import psutil
import pytest

from tests.faults.misbehaving_agents import AGENTS, FLOOD
from tests.kit.debugged_run import DebuggedRun
from tests.kit.patience import PATIENCE, wait_until
from tests.kit.processes import worker_of, workers_of
from tests.kit.server import running, write_app
from tests.kit.terminal import devui

NUMBERS = 300
TWO_CALLS = """
import asyncio
import pathlib

from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


async def until(name):
    while not pathlib.Path(__file__).with_name(name).exists():
        await asyncio.sleep(0.02)


async def look_up() -> str:
    await until("looked_up")
    return "Oslo"


async def book() -> str:
    await until("booked")
    return "booked"


rules = [
    Rule(after="book", then=Say("done")),
    Rule(after="look_up", then=Call("book")),
    Rule(then=Call("look_up")),
]
root_agent = Agent(name="two", model=ScriptedLlm(rules=rules), tools=[look_up, book])
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paused")
    write_app(folder / "agents", "flood", FLOOD.replace("5_000", str(NUMBERS)))
    write_app(folder / "agents", "flood_on", FLOOD)
    write_app(folder / "agents", "fine", AGENTS["fine"])
    write_app(folder / "agents", "two_calls", TWO_CALLS)
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def under_way(client, app: str = "flood") -> DebuggedRun:
    """A run that has committed some events and has many more to come."""
    debugged = DebuggedRun(client, app).start(pause=False)
    while len(debugged.kept()["events"]) < 5:
        time.sleep(0.05)
    return debugged


def is_whole(debugged: DebuggedRun) -> None:
    assert debugged.settled()["status"] == "done"
    deltas = [event["actions"]["stateDelta"] for event in debugged.kept()["events"]]
    assert [delta["n"] for delta in deltas if "n" in delta] == list(range(1, NUMBERS))


@pytest.mark.req("R38")
def test_a_suspended_server_keeps_its_runs_and_its_data_folder(server, client, tmp_path):
    debugged = under_way(client)
    process = psutil.Process(server.pid)
    process.suspend()
    try:
        second = devui(
            *(str(server.agents), "--no-browser", "--port", "0", "--data-dir", str(server.data)),
            cwd=tmp_path,
        )
    finally:
        process.resume()
    assert second.returncode != 0
    assert f"process {server.pid}" in second.stderr
    is_whole(debugged)


@pytest.mark.req("R38")
def test_a_suspended_worker_continues_where_it_was(server, client):
    debugged = under_way(client)
    worker = worker_of(server, "flood")
    worker.suspend()
    seen = len(debugged.kept()["events"])
    time.sleep(1)
    assert len(debugged.kept()["events"]) <= seen + 1  # one may have been on its way
    assert client.get("/health").status_code == 200
    worker.resume()
    is_whole(debugged)


def test_a_suspended_worker_is_not_said_to_wait_for_a_finished_call(server, client):
    debugged = DebuggedRun(client, "two_calls").start(pause=False)
    activity = f"/api/runs/{debugged.run}/activity"
    wait_until(lambda: [call["name"] for call in client.get(activity).json()["calls"]])
    (server.agents / "two_calls" / "looked_up").touch()
    wait_until(lambda: len(debugged.kept()["events"]) == 4)  # including the second call
    worker = worker_of(server, "two_calls")
    worker.suspend()
    try:
        wait_until(lambda: quiet(debugged))
        assert "look_up" not in quiet(debugged)
    finally:
        worker.resume()
    (server.agents / "two_calls" / "booked").touch()
    assert debugged.settled()["status"] == "done"


def quiet(debugged: DebuggedRun) -> str:
    """The page's notice about a run without activity, or "" if there is none."""
    page = debugged.client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
    return page.partition('<span class="quiet">')[2].partition("</a>")[0]


@pytest.mark.req("R52")
def test_a_run_in_a_suspended_worker_is_stopped_by_force(server, client):
    debugged = under_way(client, "flood_on")
    worker = worker_of(server, "flood_on")
    worker.send_signal(signal.SIGSTOP)
    begin = time.monotonic()
    stopped = client.post(f"/runs/{debugged.run}/stop", headers={"HX-Request": "true"})
    assert stopped.status_code == 204
    assert debugged.settled()["status"] == "stopped"
    assert time.monotonic() - begin < PATIENCE
    worker.wait(timeout=PATIENCE)
    assert worker not in workers_of(server.agents, "flood_on")
    again = DebuggedRun(client, "fine").start(pause=False)
    assert again.settled()["status"] == "done"
