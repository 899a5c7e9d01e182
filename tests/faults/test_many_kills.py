"""Dozens of servers and workers are killed; nothing shown is lost (R35 to R37, R55).

They are killed at random moments, and at the points of a commit where it would hurt most. A client
remembers what it was shown; the next server must have it, in its place and no more than once.
"""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults.misbehaving_agents import FLOOD
from tests.kit.debugged_run import DebuggedRun
from tests.kit.journal_checks import look_through
from tests.kit.killable_servers import KillPlan, ServerForker
from tests.kit.processes import worker_of
from tests.kit.recording_client import RecordingClient
from tests.kit.rounds import rounds
from tests.kit.server import running, write_app

pytestmark = [
    pytest.mark.req("R35"),
    pytest.mark.req("R36"),
    pytest.mark.req("R37"),
    pytest.mark.req("R55"),
]

PLACES = [
    KillPlan("before", "INSERT INTO events"),
    KillPlan("before", "INSERT INTO writes"),
    KillPlan("before", "UPDATE sessions SET events"),
    KillPlan("before", "COMMIT"),
    KillPlan("after", "COMMIT"),
    KillPlan("publish"),
    KillPlan("before", "nothing", checkpoints=True),
]
"""Between the steps of a commit, between a commit and its publication, and within a checkpoint."""


@pytest.fixture(scope="module")
def forker():
    with ServerForker() as forker:
        yield forker


@pytest.fixture
def agents(tmp_path):
    write_app(tmp_path / "agents", "flood", FLOOD)
    return tmp_path / "agents"


def fate(chance: random.Random, number: int) -> tuple[KillPlan | None, int]:
    """A kill plan for every other server, and how many events are shown before the kill."""
    if number % 2:
        return None, chance.randint(1, 40)
    place = PLACES[number // 2 % len(PLACES)]
    if place.checkpoints:
        return place, chance.randint(1, 40)
    return KillPlan(place.place, place.statement, chance.randint(1, 30)), 10_000


def live(forked, client, witnesses: list[RecordingClient], *, runs: bool, until: int) -> None:
    """Have all clients write and watch until the server dies or is killed after this many
    events."""
    seen = threading.Semaphore(0)
    with ThreadPoolExecutor(2 * len(witnesses)) as pool:
        futures = []
        for recorder in witnesses:
            futures.append(pool.submit(recorder.watch, client, seen))
            futures.append(pool.submit(recorder.run if runs else recorder.change, client))
        for _ in range(until):
            seen.acquire()
        forked.kill()
        for future in futures:
            future.result()


def begun(forker, agents, data, *names: str) -> list[RecordingClient]:
    """Recording clients of new sessions, created by a server that is not killed before that."""
    forked = forker.serve(agents, data)
    with forked.client() as client:
        witnesses = [RecordingClient.of_new_session(client, "flood", each) for each in names]
    forked.kill()
    return witnesses


def is_sound(data) -> None:
    look_through(data)


LIVES = 17
"""How many servers are killed per set of sessions, whose histories are read again each time."""


@pytest.mark.parametrize("seed", range(rounds(1, 8)))
def test_servers_killed_while_people_write_lose_nothing(forker, agents, tmp_path, seed):
    chance, data = random.Random(seed), tmp_path / "data"
    witnesses = begun(forker, agents, data, "ada", "bob")
    for number in range(LIVES * seed, LIVES * (seed + 1)):
        plan, until = fate(chance, number)
        if (forked := forker.serve(agents, data, plan)) is not None:
            with forked.client() as client:
                for recorder in witnesses:
                    recorder.holds(client)
                live(forked, client, witnesses, runs=False, until=until)
        is_sound(data)
    all_hold(forker, agents, data, witnesses)
    assert all(len(recorder.shown) > LIVES for recorder in witnesses)


def all_hold(forker, agents, data, witnesses: list[RecordingClient]) -> None:
    """Check everything once more with a server that isn't killed meanwhile."""
    forked = forker.serve(agents, data)
    with forked.client() as client:
        for recorder in witnesses:
            recorder.holds(client)
            recorder.ends_hold(client)
    forked.kill()


CUTS = [
    None,
    KillPlan("before", "UPDATE runs SET status"),
    None,
    KillPlan("after", "COMMIT", 1),
    None,
]
"""Where the next server dies, which has to mark the interrupted runs."""


@pytest.mark.parametrize("seed", range(rounds(1, 4)))
def test_servers_killed_while_agents_run_mark_each_run_once(forker, agents, tmp_path, seed):
    chance, data = random.Random(seed), tmp_path / "data"
    witnesses = begun(forker, agents, data, *(f"u{n}" for n in range(3)))
    for number in range(LIVES):
        if (forked := forker.serve(agents, data, CUTS[number % len(CUTS)])) is None:
            continue
        with forked.client() as client:
            for recorder in witnesses:
                recorder.holds(client)
            live(forked, client, witnesses, runs=True, until=chance.randint(1, 90))
        is_sound(data)
    all_hold(forker, agents, data, witnesses)
    assert sum(len(recorder.runs) for recorder in witnesses) > 20
    assert sum(len(recorder.shown) for recorder in witnesses) > 100


WORKER_KILLS = rounds(15, 200)


def test_killed_workers_lose_nothing_that_was_committed(forker, agents, tmp_path):
    """Runs of two sessions are active in each worker."""
    chance, witnesses, killed = random.Random(7), [], set()
    forked = forker.serve(agents, tmp_path / "data")
    with forked.client() as client:
        for number in range(WORKER_KILLS):
            if number % 7 == 0:
                ids = [f"{number}{letter}" for letter in "ab"]
                witnesses = [RecordingClient.of_new_session(client, "flood", each) for each in ids]
            killed.add(kill_worker(forked, client, witnesses, chance))
            for recorder in witnesses:
                recorder.holds(client)
    forked.kill()
    assert len(killed) == WORKER_KILLS
    is_sound(tmp_path / "data")


def kill_worker(forked, client, witnesses: list[RecordingClient], chance: random.Random) -> int:
    """Kill the worker once each run has shown some events; return its id."""
    with ThreadPoolExecutor(len(witnesses)) as pool:
        watching = []
        for recorder in witnesses:
            recorder.run(client)
            seen = threading.Semaphore(0)
            watch = pool.submit(recorder.watch, client, seen, until_its_end=True)
            watching.append((seen, watch))
        for seen, _ in watching:
            for _ in range(chance.randint(1, 30)):
                seen.acquire()
        worker = forked.worker()
        worker.kill()
        for _, watch in watching:
            watch.result()
    return worker.pid


def test_killing_a_worker_during_a_hold_keeps_what_was_committed(agents, tmp_path):
    with running(agents, tmp_path / "data") as server, server.client() as client:
        for steps, gate, count in [(0, "before_commit", 0), (3, "after_commit", 2)]:
            debugged = DebuggedRun(client, "flood").start()
            debugged.settled()
            for _ in range(steps):
                debugged.tell("step_half")
            assert debugged.hold()["gate"] == gate
            worker_of(server, "flood").kill()
            while debugged.settled()["status"] == "held":  # the server needs a moment to notice
                time.sleep(0.02)
            assert debugged.position["status"] == "failed"
            assert len(debugged.kept()["events"]) == count
    is_sound(tmp_path / "data")
