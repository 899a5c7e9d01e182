"""Workers end when nobody uses them, and never while somebody does."""

import threading

from tests.kit.debugged_run import DebuggedRun
from tests.kit.processes import workers_of
from tests.kit.server import make_session, run, running, write_app

AGENT = """
from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Rule, Say, ScriptedLlm

root_agent = Agent(name="root", model=ScriptedLlm(rules=[Rule(then=Say("hello"))]))
"""
SOON = ("--idle-worker", "0.005")
NEVER = ("--idle-worker", "0")
FEW = ("--max-workers", "2")


def until(holds) -> None:
    """Poll until it holds; the test's timeout ends the wait."""
    while not holds():
        threading.Event().wait(0.05)


def answer(client, app: str) -> str:
    [event] = run(client, app, make_session(client, app)["id"], "Hi")
    return event["content"]["parts"][0]["text"]


def test_an_idle_worker_ends_and_the_next_run_starts_another(tmp_path):
    agents = tmp_path / "agents"
    write_app(agents, "one", AGENT)
    with running(agents, tmp_path / "data", *SOON) as server, server.client() as client:
        for _ in range(2):
            assert answer(client, "one") == "hello"
            until(lambda: workers_of(agents, "one") == [])
            assert "not started" in client.get("/", headers={"Accept": "text/html"}).text


def test_a_worker_with_a_held_run_outlives_others(tmp_path):
    agents = tmp_path / "agents"
    for name in ("held", "other"):
        write_app(agents, name, AGENT)
    with running(agents, tmp_path / "data", *SOON) as server, server.client() as client:
        held = DebuggedRun(client, "held").start()
        held.settled()
        [process] = workers_of(agents, "held")
        for _ in range(2):
            assert answer(client, "other") == "hello"  # used later, and idle long before
            until(lambda: workers_of(agents, "other") == [])
        assert workers_of(agents, "held") == [process]
        held.tell("continue")
        until(lambda: workers_of(agents, "held") == [])


def test_the_least_recently_used_worker_above_the_limit_ends(tmp_path):
    agents = tmp_path / "agents"
    names = ["a", "b", "c"]
    for name in names:
        write_app(agents, name, AGENT)
    with (
        running(agents, tmp_path / "data", *FEW) as server,
        server.client() as client,
    ):
        for name in names:
            assert answer(client, name) == "hello"
        until(lambda: [len(workers_of(agents, name)) for name in names] == [0, 1, 1])
        assert answer(client, "b") == answer(client, "a") == "hello"
        until(lambda: [len(workers_of(agents, name)) for name in names] == [1, 1, 0])


def test_zero_minutes_keeps_idle_workers(tmp_path):
    agents = tmp_path / "agents"
    write_app(agents, "one", AGENT)
    with (
        running(agents, tmp_path / "data", *NEVER) as server,
        server.client() as client,
    ):
        assert answer(client, "one") == "hello"
        processes = workers_of(agents, "one")
        assert answer(client, "one") == "hello"
        assert workers_of(agents, "one") == processes
