"""Agent code may do anything: it may end its run, but never the server (R50)."""

from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from tests.faults.seen import ends, log_of, shown, still_serves
from tests.kit.debugged_run import DebuggedRun
from tests.kit.patience import PATIENCE
from tests.kit.processes import worker_of
from tests.kit.server import get_session, make_session, run

pytestmark = pytest.mark.req("R50")


@pytest.mark.parametrize(
    ("app", "error"),
    [
        ("raises", "ValueError: no such seat"),
        ("group", "KeyError: 'a'\nValueError: b"),
        ("exits", "SystemExit: 3"),
        ("interrupts", "KeyboardInterrupt: "),
        ("recurses", "RecursionError: "),
        ("surrogates", "FileNotFoundError: caf"),
        ("shouts", "ValueError: xxx"),
        ("unspeakable", "Odd: (formatting its message raised RuntimeError)"),
        ("cancels", "CancelledError: "),
        ("misuses", "RequestRefused: the initial state must be a dict"),
        ("deletes", "RequestRefused: session"),
        ("texts", "TypeError: Agent 'faulty' yielded 'no event' (str)"),
        ("nothing", "TypeError: Agent 'faulty' yielded None"),
        ("dicts", "TypeError: Agent 'faulty' yielded {'author': 'faulty'} (dict)"),
        ("untidy", "OSError: cannot put away"),
    ],
)
def test_an_error_of_any_kind_fails_its_run(client, app, error):
    last, session = ends(client, app)
    assert last["error"].startswith(error)
    assert "after" not in session["state"]
    shown(client, session, "begun", "The run failed", " ".join(error.split()))
    still_serves(client)


@pytest.mark.parametrize(("app", "how"), [("dies", "status 7"), ("segfaults", "signal 11")])
def test_an_agent_that_ends_its_process_fails_its_run(client, app, how):
    for _ in range(2):
        last, session = ends(client, app)
        assert f"WorkerDied: the agent's process ended with {how}" in last["error"]
        shown(client, session, "begun", "The run failed", f"ended with {how}")
    still_serves(client)


@pytest.mark.parametrize("app", ["exits", "dies", "segfaults"])
def test_a_run_that_ends_its_process_does_not_affect_other_apps(client, app):
    other = DebuggedRun(client, "fine").start()
    other.settled()
    last, _ = ends(client, app)
    assert "error" in last
    assert other.tell("continue")["status"] == "done"
    assert other.texts() == ["go", "begun", "after"]


@pytest.mark.parametrize("app", ["forks", "moves", "patches", "hoards", "ignores", "takes"])
def test_the_server_survives_whatever_an_agent_does_to_its_process(client, app):
    for _ in range(2):
        last, session = ends(client, app)
        assert "error" in last or session["state"]["after"] is True
        shown(client, session, "begun", "The run failed" if "error" in last else "after")
    still_serves(client)


def test_a_forked_copy_of_the_worker_prints_but_does_not_run_its_work(client):
    session = make_session(client, "divides")
    frames = run(client, "divides", session["id"], "go")
    assert [f["content"]["parts"][0]["text"] for f in frames] == ["begun", "after"]
    log = log_of(client, session)
    assert log.count("in a copy of its own") == 2
    assert log.count("was terminated. End such processes") == 3
    assert log.count("before") == 1
    _, after = ends(client, "pools")
    assert after["events"][-2]["content"]["parts"][0]["text"] == "[3, 2, 1, 0, 1, 2]"
    shown(client, after, "begun", "[3, 2, 1, 0, 1, 2]", "after")
    shown(client, session, "begun", "after")


def test_the_end_of_a_worker_is_noticed_even_if_its_children_survive(client):
    last, session = ends(client, "abandons")
    try:
        assert "WorkerDied: the agent's process ended with signal 9" in last["error"]
        shown(client, session, "The run failed", "ended with signal 9")
        still_serves(client)
    finally:
        for process in session["state"]["escaped"]:
            psutil.Process(process).kill()


def test_a_thread_that_outlives_its_run_ends_with_its_worker(client, server):
    for _ in range(2):
        last, session = ends(client, "outlives")
        assert "error" not in last
        shown(client, session, "begun", "after")
    worker = worker_of(server, "outlives")
    client.post("/apps/outlives/reload")
    worker.wait(timeout=PATIENCE)
    still_serves(client)


@pytest.mark.req("R34")
def test_an_agent_that_calls_its_model_forever_is_stopped_at_the_limit(client):
    session = make_session(client, "spins")
    last = run(client, "spins", session["id"], "go")[-1]
    assert "20" in last["error"], last
    events = get_session(client, "spins", session["id"])["events"]
    assert str(events).count("'functionResponse'") == 20
    shown(client, session, "The run failed", last["error"])
    still_serves(client)


def test_many_runs_may_start_together_while_their_worker_starts(client):
    client.post("/apps/fine/reload")
    sessions = [make_session(client, "fine")["id"] for _ in range(10)]
    with ThreadPoolExecutor(10) as pool:
        runs = list(pool.map(lambda name: run(client, "fine", name, "go"), sessions))
    assert all("error" not in frames[-1] for frames in runs)
