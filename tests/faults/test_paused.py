"""Processes that stand still for a while: nobody takes over, and nothing is lost (R38, R52)."""

import signal
import time

import psutil
import pytest

from tests.faults.misbehaving_agents import AGENTS, FLOOD
from tests.kit.debugged import Debugged
from tests.kit.patience import PATIENCE
from tests.kit.processes import worker_of, workers_of
from tests.kit.server import running, write_app
from tests.kit.terminal import devui

NUMBERS = 300


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paused")
    write_app(folder / "agents", "flood", FLOOD.replace("5_000", str(NUMBERS)))
    write_app(folder / "agents", "flood_on", FLOOD)
    write_app(folder / "agents", "fine", AGENTS["fine"])
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def under_way(client, app: str = "flood") -> Debugged:
    """A run that has committed something and has much more to say."""
    debugged = Debugged(client, app).start(pause=False)
    while len(debugged.kept()["events"]) < 5:
        time.sleep(0.05)
    return debugged


def is_whole(debugged: Debugged) -> None:
    assert debugged.settled()["status"] == "done"
    deltas = [event["actions"]["stateDelta"] for event in debugged.kept()["events"]]
    assert [delta["n"] for delta in deltas if "n" in delta] == list(range(1, NUMBERS))


@pytest.mark.req("R38")
def test_a_server_that_stands_still_keeps_its_runs_and_nobody_takes_them_over(
    server, client, tmp_path
):
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
def test_a_worker_that_stands_still_goes_on_where_it_was(server, client):
    debugged = under_way(client)
    worker = worker_of(server, "flood")
    worker.suspend()
    seen = len(debugged.kept()["events"])
    time.sleep(1)
    assert len(debugged.kept()["events"]) <= seen + 1  # one may have been on its way
    assert client.get("/health").status_code == 200
    worker.resume()
    is_whole(debugged)


@pytest.mark.req("R52")
def test_a_run_whose_worker_stands_still_is_stopped_by_force(server, client):
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
    again = Debugged(client, "fine").start(pause=False)
    assert again.settled()["status"] == "done"
