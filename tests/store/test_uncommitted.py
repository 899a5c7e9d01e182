"""Uncommitted writes of runs, as the journal stores them."""

import pytest

from devui.store.errors import BadValue, SessionNotFound
from devui.store.journal import Journal
from devui.store.rows import NewTouch, SessionRow, TouchRow
from tests.store.kit import new_event

WRITE = NewTouch(number=1, event=None, flagged=None, data='{"key":"plan"}')


async def test_a_write_gets_its_event_only_when_the_event_is_committed(
    journal: Journal, session: SessionRow
) -> None:
    await journal.runs.start("r1", session.key)
    await journal.uncommitted.put(session.key, "r1", [WRITE])
    touch = NewTouch(number=1, event="e1", flagged="e0", data='{"key":"plan"}')
    await journal.uncommitted.put(session.key, "r1", [touch])
    row = TouchRow("r1", 1, session.key, WRITE.data, event=None, flagged=None)
    assert await journal.uncommitted.of_run("r1") == [row]
    await journal.events.append(session.key, new_event("e1"), "r1")
    [row] = await journal.uncommitted.of_session(session.key, 10)
    assert (row.event, row.flagged) == (1, None)
    await journal.runs.change("r1", "done")
    await journal.sessions.delete(session.key)
    assert await journal.uncommitted.of_run("r1") == []


async def test_a_write_needs_a_session_and_storable_texts(
    journal: Journal, session: SessionRow
) -> None:
    await journal.runs.start("r1", session.key)
    with pytest.raises(SessionNotFound):
        await journal.uncommitted.put(999, "r1", [WRITE])
    with pytest.raises(BadValue):
        await journal.uncommitted.put(session.key, "r1", [NewTouch(1, None, None, "a\0b")])
