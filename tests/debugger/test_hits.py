"""Past hits of breakpoints: what they are, and what is read to find them."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from devui.debugger.breakpoints.breakpoint import Breakpoint, Draft
from devui.debugger.breakpoints.hits import past_hits
from devui.debugger.events.prices import Prices
from devui.debugger.runs.commit import event_of
from devui.store.events import history
from devui.store.journal import Journal
from devui.store.rows import NewEvent
from devui.wire.events import Event

COUNT = 450


def event(number: int) -> NewEvent:
    """Return an event: of every ten, one is the user's, one writes state, one calls, one fails."""
    event_json: dict[str, Any] = {
        "id": f"e{number}",
        "author": "user" if number % 10 == 1 else "planner",
        "invocationId": f"i{(number - 1) // 10}",
        "timestamp": float(number),
        "content": {"parts": [{"text": f"word {number}"}]},
    }
    if number % 10 == 3:
        event_json["actions"] = {"stateDelta": {"plan": number, "user:seen": number % 20}}
    if number % 10 == 5:
        call = {"id": f"c{number}", "name": "look", "args": {"at": number % 100}}
        event_json["content"] = {"role": "model", "parts": [{"functionCall": call}]}
        event_json["usageMetadata"] = {"promptTokenCount": 7, "totalTokenCount": 10}
    if number % 10 == 8:
        event_json["errorCode"] = "LIMIT" if number % 100 == 8 else "BAD"
    return event_of(Event.of(event_json), final=False)


ASKED: list[tuple[dict[str, Any], list[int], list[int]]] = [
    ({"on": "state", "name": "plan"}, [*range(3, COUNT, 10)], []),
    ({"on": "state", "name": "plan", "condition": "old == 3 and new == 13"}, [13], []),
    ({"on": "state", "name": "user:*", "condition": "new == 13"}, [*range(13, COUNT, 20)], [3]),
    (
        {"on": "error", "when": "after", "condition": "state['user:seen'] == 13 and state.first"},
        [*range(18, COUNT, 20)],
        [],
    ),
    ({"on": "error", "name": "LIMIT", "condition": "held.id"}, [*range(8, COUNT, 100)], [8]),
    ({"on": "tool", "name": "lo*", "condition": "args.at == 5"}, [*range(5, COUNT, 100)], [5]),
    ({"on": "agent", "name": "planner"}, [*range(2, COUNT, 10)], []),
    (
        {"on": "budget", "condition": "run.tokens > 9 and run.calls == 1"},
        [*range(5, COUNT, 10)],
        [5],
    ),
]
"""A breakpoint, the events it hits, and the last digits of the events whose bodies are read."""


def spoil(folder: Path, read: set[int]) -> None:
    """Overwrite the bodies of all events but those whose numbers end with one of the digits."""
    digits = ", ".join(map(str, read))
    with closing(sqlite3.connect(folder / "journal.db")) as file, file:
        file.execute(f"UPDATE events SET data = 'unread' WHERE number % 10 NOT IN ({digits or -1})")


@pytest.mark.parametrize(("asked", "expected", "read"), ASKED)
async def test_only_bodies_of_events_that_may_match_are_read(
    tmp_path: Path, asked: dict[str, Any], expected: list[int], read: list[int]
) -> None:
    new = history([event(number) for number in range(1, COUNT + 1)])
    async with await Journal.open(tmp_path) as journal:
        session = await journal.sessions.create("a", "u", "s", {"first": 1}, history=new)
        points, prices = [Breakpoint(Draft(**asked))], Prices({}, "")

        async def hits(**where: int) -> list[int]:
            return [
                hit.number
                for hit in (await past_hits(journal, session, points, prices, **where)).hits
            ]

        assert await hits() == expected
        spoil(tmp_path, {digit % 10 for digit in read})
        assert await hits() == expected
        assert await hits(before=expected[-1] + 1, limit=1) == expected[-1:]
        assert await hits(after=expected[0], limit=1) == expected[1:2]


async def test_a_logpoint_writes_a_text_for_each_key_that_an_event_wrote(tmp_path: Path) -> None:
    new = history([event(3)])
    point = Breakpoint(Draft(on="state", name="*", condition="new > 2", log="{key} is {new}"))
    async with await Journal.open(tmp_path) as journal:
        session = await journal.sessions.create("a", "u", "s", {}, history=new)
        [hit] = (await past_hits(journal, session, [point], Prices({}, ""))).hits
        assert hit.text == "plan is 3; user:seen is 3"
