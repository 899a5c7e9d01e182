"""The calls of an invocation and whether they were answered, without reading all its events.

They are found by an index on the events' summaries, so that long invocations cost no more than
short ones.
"""

import json

from devui.store.journal import Journal
from devui.store.rows import EventRow
from devui.store.values import event_row
from devui.wire.events import USER

# One step of the recursion per author and branch: the next smaller pair, found by index.
_LATEST = """
    WITH RECURSIVE latest (seq) AS (
        SELECT (
            SELECT seq FROM events
            WHERE session = ?1 AND invocation_id = ?2 AND instr(summary, '"calls":[') > 0
            ORDER BY quote(author) || quote(branch) DESC, seq DESC LIMIT 1
        )
        UNION ALL
        SELECT (
            SELECT seq FROM events
            WHERE session = ?1 AND invocation_id = ?2 AND instr(summary, '"calls":[') > 0
                AND quote(author) || quote(branch) < quote(last.author) || quote(last.branch)
            ORDER BY quote(author) || quote(branch) DESC, seq DESC LIMIT 1
        )
        FROM latest JOIN events AS last ON last.seq = latest.seq
    )
    SELECT event_rows.* FROM latest JOIN event_rows ON event_rows.seq = latest.seq
    ORDER BY event_rows.seq
"""
_LONG = """
    SELECT * FROM event_rows WHERE seq IN (
        SELECT seq FROM events INDEXED BY events_calls
        WHERE session = ? AND invocation_id = ? AND instr(summary, '"calls":[') > 0
            AND instr(summary, '"long_running":true') > 0
    )
    ORDER BY seq
"""
_ANSWERED = """
    SELECT EXISTS (
        SELECT 1 FROM events
        WHERE session = ?1 AND invocation_id = ?2 AND seq > ?3 AND (?5 IS NULL OR author = ?5)
            AND instr(summary, '"responses":[') > 0 AND instr(summary, ?4) > 0
    )
"""
_RESULTS = """
    SELECT * FROM event_rows
    WHERE session = ?1 AND invocation_id = ?2 AND seq > ?3 AND instr(summary, '"responses":[') > 0
        AND EXISTS (SELECT 1 FROM json_each(?4) WHERE instr(summary, value) > 0)
    ORDER BY seq
"""
_SPOKE = """
    SELECT EXISTS (SELECT 1 FROM events WHERE session = ? AND invocation_id = ? AND author = ?)
"""


async def latest_calls(journal: Journal, session: int, invocation: str) -> list[EventRow]:
    """Return the last event with calls of each author on each branch, in ascending order."""
    rows = await journal.fetch(_LATEST, session, invocation)
    return [event_row(row) for row in rows]


async def long_running_calls(journal: Journal, session: int, invocation: str) -> list[EventRow]:
    """Return the events with a long-running call, in ascending order."""
    rows = await journal.fetch(_LONG, session, invocation)
    return [event_row(row) for row in rows]


async def has_answer(
    journal: Journal, call_event: EventRow, call: str, *, by_user: bool = False
) -> bool:
    """Return whether a later event of the invocation answers the call; if `by_user`, only the
    user's events count."""
    call_json = json.dumps(call, ensure_ascii=False)
    author = USER if by_user else None
    values = (call_event.session, call_event.invocation_id, call_event.seq, call_json, author)
    [(exists,)] = await journal.fetch(_ANSWERED, *values)
    return bool(exists)


async def results(journal: Journal, call_event: EventRow) -> list[EventRow]:
    """Return the later events of the invocation that may hold results of the event's calls, in
    ascending order."""
    ids = [json.dumps(call.id, ensure_ascii=False) for call in call_event.summary.calls if call.id]
    if not ids:
        return []
    values = (call_event.session, call_event.invocation_id, call_event.seq, json.dumps(ids))
    return [event_row(row) for row in await journal.fetch(_RESULTS, *values)]


async def first_open_call(journal: Journal, session: int, invocation: str) -> EventRow | None:
    """Return the first of the events from `latest_calls` with an unanswered call, if any."""
    for row in await latest_calls(journal, session, invocation):
        ids = [call.id for call in row.summary.calls if call.id]
        if not all([await has_answer(journal, row, each) for each in ids]):
            return row
    return None


async def has_event_by(journal: Journal, session: int, invocation: str, author: str) -> bool:
    """Return whether the invocation has an event by this author."""
    [(exists,)] = await journal.fetch(_SPOKE, session, invocation, author)
    return bool(exists)
