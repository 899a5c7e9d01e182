"""A hanging run is noticed, and stopped whatever it does (R52)."""

import asyncio
import threading
import time

import psutil
import pytest

from devui.debugger.runs.driver import SECONDS_TO_STOP, SECONDS_TO_TERMINATE
from devui.debugger.workers.process import WorkerProcess
from devui.wire.messages import RunEnded, Shutdown, StartRun, StopRun
from tests.faults.seen import (
    GOING,
    HTML,
    HTMX,
    get_state,
    key_of,
    run_of,
    session_page,
    still_serves,
)
from tests.kit.debugged_run import DebuggedRun
from tests.kit.patience import PATIENCE
from tests.kit.processes import workers_of
from tests.kit.server import make_session, run_body

pytestmark = pytest.mark.req("R50")


@pytest.mark.req("R52")
def test_the_steps_of_stopping_a_run_take_at_most_eight_seconds():
    assert SECONDS_TO_STOP + SECONDS_TO_TERMINATE <= 8


@pytest.mark.req("R52")
@pytest.mark.parametrize("app", ["sleeps", "blocks", "stubborn", "leaks", "deaf"])
def test_stop_ends_a_run_whatever_it_does(client, server, app):
    session = make_session(client, app)
    with client.stream("POST", "/run_sse", json=run_body(app, session["id"], "go")) as answer:
        lines = answer.iter_lines()
        next(line for line in lines if '"begun"' in line)
        with server.client() as other:
            stopped = other.post(f"/runs/{run_of(other, session)}/stop")
            assert stopped.status_code in {204, 303}
            assert other.get("/health").status_code == 200
        assert not [line for line in lines if '"after"' in line]
    still_serves(client)
    with server.client() as other:
        assert "The run was stopped" in session_page(other, session)


@pytest.mark.req("R52")
def test_stop_right_after_the_start_is_not_lost(client, server):
    session = make_session(client, "sleeps")
    key = key_of(client, session)
    with client.stream("POST", "/run_sse", json=run_body("sleeps", session["id"], "go")) as answer:
        lines = answer.iter_lines()
        next(line for line in lines if '"begun"' in line)  # its process has started
        with server.client() as other:
            other.post(f"/runs/{run_of(other, session)}/stop", headers=HTMX)
        list(lines)
    workers = set()
    for _ in range(10):
        response = client.post(f"/sessions/{key}/runs", data={"text": "go"}, headers=HTMX)
        assert response.status_code < 400, response.text
        run_id = run_of(client, session)
        client.post(f"/runs/{run_id}/stop", headers=HTMX)
        while GOING.search(client.get(f"/sessions/{key}", headers=HTML).text):
            time.sleep(0.02)
        workers |= {process.pid for process in workers_of(server.agents, "sleeps")}
    assert len(workers) == 1, "a process had to be killed"


async def ends_of_runs(agents, app: str, *messages) -> list[RunEnded]:
    """The ends of runs that a worker reports if it gets all messages while importing its app."""
    worker, ends = await WorkerProcess.start(agents, app), []

    async def receive(message) -> None:
        ends.extend([message] if isinstance(message, RunEnded) else [])

    for message in messages:
        await worker.send(message)
    await worker.listen(receive, str)
    return ends


@pytest.mark.req("R52")
def test_stopping_a_run_before_its_worker_starts_it_ends_the_run(server):
    """A busy processor, or agent code of another run, makes both messages wait for the worker."""
    start = StartRun(run="r", user="u", session="s", session_key=1, head=0, shared="{}")
    messages = (start, StopRun(run="r"), Shutdown())
    ends = asyncio.run(ends_of_runs(server.agents, "sleeps", *messages))
    assert ends == [RunEnded(run="r", outcome="stopped")]


@pytest.mark.req("R52")
def test_a_run_is_stopped_while_its_app_reloads_after_a_crash(client, server):
    client.post("/apps/relapses/reload")
    [first] = workers_of(server.agents, "relapses")
    debugged = DebuggedRun(client, "relapses").start(pause=False)
    while not [each for each in workers_of(server.agents, "relapses") if each != first]:
        time.sleep(0.02)
    client.post(f"/runs/{debugged.run}/stop", headers=HTMX)
    assert debugged.settled()["status"] == "stopped"


@pytest.mark.req("R52")
def test_a_blocked_event_loop_is_reported_with_the_blocking_line(client, server):
    session = make_session(client, "blocks")
    with client.stream("POST", "/run_sse", json=run_body("blocks", session["id"], "go")) as answer:
        next(line for line in answer.iter_lines() if '"begun"' in line)
        with server.client() as other:
            while "event loop is blocked" not in (page := session_page(other, session)):
                threading.Event().wait(0.2)
            assert "blocks/agent.py" in page
            assert "while True: pass" in page
            other.post(f"/runs/{run_of(other, session)}/stop")


@pytest.mark.req("R52")
def test_processes_started_by_an_agent_end_with_its_run(client, server):
    session = make_session(client, "begets")
    with client.stream("POST", "/run_sse", json=run_body("begets", session["id"], "go")) as answer:
        lines = answer.iter_lines()
        next(line for line in lines if '"child"' in line)
        child = psutil.Process(get_state(server, session)["child"])
        with server.client() as other:
            other.post(f"/runs/{run_of(other, session)}/stop")
        list(lines)
    child.wait(timeout=PATIENCE)
