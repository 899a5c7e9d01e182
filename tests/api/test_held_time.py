"""Time in which a run is held is no time at work: not in the column, not in the sums."""

import re
import time

import pytest

from tests.kit.debugged import Debugged

BOOK = "Book a flight to London next Tuesday"
HELD = 0.3
"""Seconds, so that it is seen among the hundredths of the column."""
FIGURE = r'title="held by the debugger for ([\d.]+) s besides">([\d.]+)'


def cells(page: str, place: str) -> list[tuple[float, float]]:
    """Held and worked, as the page has them after the place."""
    return [(float(held), float(worked)) for held, worked in re.findall(place + FIGURE, page)]


@pytest.fixture
def page(client):
    def read(debugged: Debugged) -> str:
        html = {"Accept": "text/html"}
        return client.get(f"/sessions/{debugged.key}", headers=html).text

    return read


def test_time_that_a_run_was_held_is_told_apart_from_time_at_work(client, page):
    debugged = Debugged(client, "travel").start(BOOK)
    debugged.settled()
    debugged.tell("step_event")
    (hold,) = debugged.settled()["holds"]
    while time.time() - hold["since"] < HELD:
        client.get(f"/api/runs/{debugged.run}")  # each look takes its time
    debugged.tell("continue")
    shown = page(debugged)
    stamps = [event["timestamp"] for event in debugged.kept()["events"]]
    [(held, worked)] = cells(shown, r'class="dt had-holds" role="gridcell" ')[:1]
    assert held >= HELD / 2
    assert held + worked == pytest.approx(stamps[1] - stamps[0], abs=0.02, rel=0.02)
    [(whole, _)] = cells(shown, r'class="had-holds" ')
    assert whole == pytest.approx(held, abs=0.02, rel=0.02)
    row = client.get(f"/api/sessions/{debugged.key}/run").json()
    [(total, at_work)] = re.findall(
        r"<span title=.held by the debugger for ([\d.]+) s.*?<b[^>]*>([\d.]+) s", shown
    )
    assert float(total) >= held
    assert float(total) + float(at_work) == pytest.approx(
        row["ended"] - row["started"], abs=0.02, rel=0.02
    )
    fork = client.post(f"/api/sessions/{debugged.key}/forks", json={"number": 2}).json()
    debugged.key = fork["key"]
    assert cells(page(debugged), r'class="dt had-holds" role="gridcell" ') == [(held, worked)]
