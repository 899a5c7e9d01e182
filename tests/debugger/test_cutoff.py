"""Finding out how a session stands costs no more after a long run than after a short one."""

import asyncio
import json
from typing import Any

import pytest

from devui.debugger.recovery.cutoff import Cutoff, cutoff
from devui.debugger.runs.commit import event_of
from devui.store.journal import Journal
from devui.store.rows import NewEvent
from devui.wire.events import Event
from tests.store.kit import ListeningConnection

SHORT, LONG = 20, 1_000

Part = dict[str, Any]


def text_part(number: int) -> Part:
    return {"text": f"step {number}"}


def call_or_answer(number: int) -> Part:
    """Return a call for an odd number, and its result for the next one."""
    if number % 2:
        return {"functionCall": {"id": f"c{number}", "name": "look", "args": {}}}
    response = {"id": f"c{number - 1}", "name": "look", "response": {"result": 1}}
    return {"functionResponse": response}


def event(number: int, part: Part) -> NewEvent:
    event_json = {
        "id": f"e{number}",
        "invocationId": "i1",
        "author": "loop",
        "timestamp": float(number),
        "content": {"role": "model", "parts": [part]},
    }
    return event_of(Event.of(event_json), final=False)


async def stands(journal: Journal, run: str, parts: list[Part], status: Any) -> tuple[int, Cutoff]:
    """Return the cost in SQLite steps, and how a session with such a run stands."""
    session = (await journal.sessions.create("travel", "ada", run, {})).key
    await journal.runs.start(run, session, "i1")
    new = [event(number, part) for number, part in enumerate(parts, 1)]
    await asyncio.gather(*(journal.events.append(session, each, run) for each in new))
    await journal.runs.change(run, status)
    ListeningConnection.steps = 0
    stand = await cutoff(journal, session, None)
    return ListeningConnection.steps, stand


CASES = [(text_part, "stopped"), (call_or_answer, "stopped"), (text_part, "done")]


@pytest.mark.parametrize(("make", "status"), CASES)
async def test_a_cutoff_costs_no_more_after_a_long_run(tmp_path, make, status):
    async with await Journal.open(tmp_path, factory=ListeningConnection) as journal:
        parts = [make(number) for number in range(1, LONG + 1)]
        short, _ = await stands(journal, "short", parts[:SHORT], status)
        long, stand = await stands(journal, "long", parts, status)
        assert stand.unknown == ()
        assert stand.question is None
        assert stand.last is None or stand.last.number == LONG
    assert long <= short * 1.3 + 5


async def test_an_old_unanswered_call_on_another_branch_is_still_unknown(tmp_path):
    async with await Journal.open(tmp_path) as journal:
        session = (await journal.sessions.create("travel", "ada", "s", {})).key
        await journal.runs.start("r", session, "i1")
        for number in range(1, 30):
            new = event(number, call_or_answer(number))
            event_json = {**json.loads(new.data), "branch": "left" if number == 3 else "right"}
            if number == 4:
                event_json["content"]["parts"] = [text_part(4)]
            await journal.events.append(session, event_of(Event.of(event_json), final=False), "r")
        await journal.runs.change("r", "stopped")
        stand = await cutoff(journal, session, None)
    assert [(call.id, call.event) for call in stand.unknown] == [("c3", 3), ("c29", 29)]
