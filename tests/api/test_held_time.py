"""Time in which a run is held is not time at work, in the column and in the sums."""

import re
import time
from itertools import accumulate
from pathlib import Path

import pytest

from devui.web.text.formats import UNKNOWN
from tests.kit.debugged_run import DebuggedRun
from tests.kit.processes import worker_of
from tests.kit.server import SAMPLES, running, write_app

BOOK = "Book a flight to London next Tuesday"
HELD = 0.3
"""In seconds; long enough to show among the column's hundredths."""
PARALLEL = """
from devui.runtime.agents import BaseAgent, ParallelAgent
from devui.runtime.events import Event


class Says(BaseAgent):
    async def _run_async_impl(self, ctx):
        for _ in range(3):
            yield Event(author=self.name)


root_agent = ParallelAgent(name="race", sub_agents=[Says(name="one"), Says(name="two")])
"""
EVENTS = 7
WAITS = """
import asyncio
from pathlib import Path

from devui.runtime.agents import BaseAgent, ParallelAgent
from devui.runtime.events import Event


class Says(BaseAgent):
    async def _run_async_impl(self, ctx):
        while self.name == "slow" and not Path({file!r}).exists():
            await asyncio.sleep(0.01)
        event = Event(author=self.name, branch=ctx.branch)
        Path({file!r} + self.name).touch()
        yield event


root_agent = ParallelAgent(name="race", sub_agents=[Says(name="quick"), Says(name="slow")])
"""
FIGURE = r'title="not counting ([\d.]+) s paused">([\d.]+)'


def cells(page: str, place: str) -> list[tuple[float, float]]:
    """The held and worked seconds that follow each occurrence of a place in the page."""
    return [(float(held), float(worked)) for held, worked in re.findall(place + FIGURE, page)]


def page_of(debugged: DebuggedRun, query: str = "") -> str:
    html = {"Accept": "text/html"}
    return debugged.client.get(f"/sessions/{debugged.key}{query}", headers=html).text


@pytest.fixture
def page():
    return page_of


def total(page: str) -> tuple[float, float]:
    """The held and worked seconds in the top bar."""
    [(held, worked)] = re.findall(
        r'<span title="All ended runs, from start to end'
        r'(?:, not counting ([\d.]+) s paused)?"><i>time</i> '
        r"<b[^>]*>([\d.]+) s</b>",
        page,
    )
    return float(held or 0), float(worked)


def wait(debugged: DebuggedRun) -> None:
    """Let the run be held for HELD seconds."""
    over = time.monotonic() + HELD
    while time.monotonic() < over:
        debugged.client.get(f"/api/runs/{debugged.run}")  # each request takes a while


def hold_after_first(client) -> DebuggedRun:
    """A run that has been held after its first event for a while."""
    debugged = DebuggedRun(client, "travel").start(BOOK)
    debugged.settled()
    debugged.tell("step_event")
    debugged.hold()
    wait(debugged)
    return debugged


@pytest.fixture
def held_once(client):
    """A run that was held after its first event and has ended."""
    debugged = hold_after_first(client)
    debugged.tell("continue")
    return debugged


def test_time_held_is_shown_apart_from_time_at_work(client, page, held_once):
    debugged = held_once
    html = page(debugged)
    stamps = [event["timestamp"] for event in debugged.kept()["events"]]
    [(held, worked)] = cells(html, r'class="dt had-holds" role="gridcell" ')[:1]
    assert held >= HELD / 2
    assert held + worked == pytest.approx(stamps[1] - stamps[0], abs=0.02, rel=0.02)
    [(whole, _)] = cells(html, r'class="had-holds" ')
    assert whole == pytest.approx(held, abs=0.02, rel=0.02)
    row = client.get(f"/api/sessions/{debugged.key}/run").json()
    whole, active = total(html)
    assert whole >= held
    assert whole + active == pytest.approx(row["ended"] - row["started"], abs=0.02, rel=0.02)
    sides = {"left": debugged.key, "right": debugged.key}
    compared = client.get("/api/compare", params=sides).json()["left"]["seconds"]
    assert compared == pytest.approx(active, abs=0.01)
    fork = client.post(f"/api/sessions/{debugged.key}/forks", json={"number": 2}).json()
    debugged.key = fork["key"]
    assert cells(page(debugged), r'class="dt had-holds" role="gridcell" ') == [(held, worked)]


def test_the_time_as_of_an_event_is_the_time_passed_until_it(client, page, held_once):
    first = client.get(f"/api/sessions/{held_once.key}/run").json()
    events = len(held_once.kept()["events"])
    held_once.start("Thank you", pause=False).settled()
    second = client.get(f"/api/sessions/{held_once.key}/run").json()
    stamps = [event["timestamp"] for event in held_once.kept()["events"]]
    at_first = first["ended"] - first["started"]
    passed = [
        stamp - first["started"] if number <= events else stamp - second["started"] + at_first
        for number, stamp in enumerate(stamps, 1)
    ]
    times = [total(page(held_once, f"?at={number}")) for number in range(1, len(stamps) + 1)]
    assert [held + worked for held, worked in times] == [
        pytest.approx(each, abs=0.02, rel=0.02) for each in passed
    ]
    assert times[0][0] < HELD / 2 <= times[1][0]
    held, worked = total(page(held_once))
    assert times[-1] == (pytest.approx(held, abs=0.02), pytest.approx(worked, abs=0.1))


def test_an_imported_session_has_the_same_times(client, page, held_once):
    def times() -> list[object]:
        place = r'class="dt had-holds" role="gridcell" '
        return [
            total(page(held_once)),
            total(page(held_once, "?at=2")),
            cells(page(held_once), place),
        ]

    here = times()
    bundle = client.get(f"/api/sessions/{held_once.key}/export").content
    answer = client.post(
        "/api/sessions/import", content=bundle, headers={"content-type": "application/json"}
    )
    held_once.key = answer.json()["key"]
    assert times() == here
    assert client.get(f"/api/sessions/{held_once.key}/export").content == bundle


def test_the_time_between_two_runs_is_not_time_at_work(client, page, held_once):
    fork = client.post(f"/api/sessions/{held_once.key}/forks", json={"number": 2}).json()
    held_once.key, held_once.session = fork["key"], fork["id"]
    held_once.start("Thank you", pause=False).settled()
    html = page(held_once)
    events = client.get(f"/api/sessions/{fork['key']}/events").json()["events"]
    column = re.findall(r'class="dt[^>]*role="gridcell"[^>]*>([^<]+)', html)
    worked = {
        event["number"]: None if figure == UNKNOWN else float(figure)
        for event, figure in zip(events, column, strict=True)
    }
    assert [number for number, figure in worked.items() if figure is None] == [1, 3]
    [whole] = re.findall(r"event[^<]*? · ([\d.]+) s", html)
    second = [figure for number, figure in worked.items() if number > 2 and figure is not None]
    last = client.get(f"/api/sessions/{fork['key']}/run").json()
    assert float(whole) == pytest.approx(last["ended"] - last["started"], abs=0.02)
    assert sum(second) <= float(whole) + 0.05
    some = client.get(f"/api/sessions/{held_once.key}/events", params={"filter": "seconds>=0"})
    assert {event["number"] for event in some.json()["events"]} == set(worked) - {1, 3}


Held = tuple[float, float, float, float]
"""Moments around a hold: its start is between the first two, its end between the last two."""


def step(debugged: DebuggedRun) -> list[Held]:
    """Step to the end of the run; return its holds."""
    holds: list[Held] = []
    while debugged.settled()["holds"]:
        hold, seen = debugged.hold(), time.time()
        wait(debugged)
        ordered_at = time.time()
        debugged.tell("step_half", wait=False)
        holds.append((hold["since"], seen, ordered_at, time.time()))
    return holds


def held_until(moment: float, stamps: list[float], holds: list[Held]) -> tuple[float, float]:
    """The least and most time held; another branch may commit an event meanwhile."""
    least = most = 0.0
    for since, seen, ordered_at, over in holds:
        idle = max([seen, *(stamp for stamp in stamps if since < stamp < ordered_at)])
        least += max(min(ordered_at, moment) - idle, 0.0)
        most += max(min(over, moment) - since, 0.0)
    return least, most


def test_an_events_time_held_counts_up_to_its_timestamp_not_its_commit(tmp_path):
    write_app(tmp_path / "agents", "race", PARALLEL)
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "race").start()
        holds = step(debugged)
        bundle = client.get(f"/api/sessions/{debugged.key}/export")
        kind = {"content-type": "application/json"}
        answer = client.post("/api/sessions/import", content=bundle.content, headers=kind)
        assert answer.status_code == 201, answer.text
    records = [record for record in bundle.json()["records"] if record["type"] == "event"]
    stamps = [record["event"]["timestamp"] for record in records]
    assert len(stamps) == EVENTS
    for stamp, held in zip(
        stamps, accumulate(each.get("paused", 0.0) for each in records), strict=True
    ):
        least, most = held_until(stamp, stamps, holds)
        assert least - 0.02 <= held <= most + 0.02


@pytest.fixture(params=["server", "worker"])
def cut_off(request, tmp_path):
    """A run that was held, continued, and was held again when a process was killed."""
    with running(SAMPLES, tmp_path / "data") as server, server.client() as client:
        debugged = hold_after_first(client)
        debugged.tell("step_half")
        hold = debugged.hold() | {"seen": time.time()}
        wait(debugged)
        if request.param == "worker":
            worker_of(server, "travel").kill()
        else:
            server.kill()
            time.sleep(HELD)
            server.start()
        with server.client() as debugged.client:
            yield debugged, hold


def test_a_run_killed_while_held_worked_until_its_hold(cut_off):
    debugged, hold = cut_off
    over = debugged.settled()
    whole, active = total(page_of(debugged))
    assert whole + active == pytest.approx(over["ended"] - over["started"], abs=0.02, rel=0.02)
    begun = over["started"] + hold["paused"]
    assert hold["since"] - begun - 0.02 <= active <= hold["seen"] - begun + 0.02
    assert hold["paused"] >= HELD - 0.02  # the machine's clock may be set meanwhile
    if over["status"] == "interrupted":
        assert over["ended"] == hold["since"]
    assert total(page_of(debugged, "?at=1"))[1] <= active


def test_a_branch_worked_while_another_was_held(tmp_path):
    file = tmp_path / "go"
    write_app(tmp_path / "agents", "race", WAITS.format(file=str(file)))
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "race").start()
        while debugged.settled()["holds"][0]["agent"] != "quick":
            debugged.tell("step_half")
        debugged.hold()
        wait(debugged)
        file.touch()
        while not Path(f"{file}slow").exists():
            client.get(f"/api/runs/{debugged.run}")
        wait(debugged)
        debugged.tell("continue")
        events = client.get(f"/api/sessions/{debugged.key}/events").json()["events"]
        [slow] = [each["number"] for each in events if each["author"] == "slow"]
        worked = client.get(
            f"/api/sessions/{debugged.key}/events", params={"filter": f"seconds>={HELD}"}
        )
        assert slow in [each["number"] for each in worked.json()["events"]]
        held, active = total(page_of(debugged))
        over = debugged.position
        assert active >= HELD <= held
        assert held + active == pytest.approx(over["ended"] - over["started"], abs=0.02, rel=0.02)
