from dataclasses import replace

import pytest

from devui.store.errors import BadValue, SessionNotFound
from devui.store.journal import Journal
from devui.store.rows import NewEdit, SessionRow

EDIT = NewEdit(
    run="r",
    gate="before_tool",
    agent="planner",
    tool="pay",
    call="c1",
    event=None,
    action="edit",
    actor="Ada",
    at=1.5,
    before='{"price":1}',
    after='{"price":2}',
)


async def test_edits_are_kept_in_order_and_deleted_with_their_session(
    journal: Journal, session: SessionRow
) -> None:
    first = await journal.edits.add(session.key, EDIT)
    second = await journal.edits.add(session.key, replace(EDIT, tool=None, event="e1"))
    rows = await journal.edits.list(session.key)
    assert [row.id for row in rows] == [first.id, second.id]
    assert rows == [first, second]
    assert rows[0].edit == EDIT
    await journal.sessions.delete(session.key)
    assert await journal.edits.list(session.key) == []


async def test_an_edit_needs_a_session_and_storable_texts(
    journal: Journal, session: SessionRow
) -> None:
    with pytest.raises(SessionNotFound):
        await journal.edits.add(999, EDIT)
    with pytest.raises(BadValue):
        await journal.edits.add(session.key, replace(EDIT, actor="a\0b"))


async def test_a_dropped_event_gets_a_seq_among_the_events(
    journal: Journal, session: SessionRow
) -> None:
    await journal.edits.add(session.key, EDIT)
    before = await journal.head()
    dropped = await journal.edits.add(session.key, replace(EDIT, action="drop"))
    assert dropped.seq == await journal.head() > before
    assert await journal.edits.dropped(session.key, before) == [dropped]
    assert await journal.edits.dropped(session.key, dropped.seq) == []
    assert await journal.edits.dropped(session.key, before, dropped.seq) == []
