"""Events: appended once, in order and permanently; read in pages, singly or as a stream of JSON.

An append writes the event, its state writes and the session's head in one transaction, and returns
once that is on disk (R35, R37). Partial events are never committed (runtime seed): they are
recorded separately, as chunks under the id of the event that they become.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence

from devui.store.errors import (
    EventConflict,
    RunActive,
    RunNotActive,
    SessionNotFound,
    StaleSession,
)
from devui.store.rows import Appended, EventRow, NewEvent, Rewind
from devui.store.sessions import History, require_session, require_writable
from devui.store.sqlite.database import Database, advance
from devui.store.state import Routed, Scopes, require_written, route_delta, write_state
from devui.store.summaries import ANSWERS, HAS_FAILED
from devui.store.values import (
    believed,
    bounded,
    check_event,
    clean_text,
    event_body,
    event_row,
    intact,
    measure,
    optional_text,
)
from devui.wire.events import USER, Event

_END = 2**63 - 1
_NO_LIMIT = -1
_FEW = 64
"""Rows in the largest page that is read on the event loop's thread."""

_FIRST = "SELECT * FROM event_rows WHERE session = ? AND seq > ? AND seq < ? ORDER BY seq LIMIT ?"
_LAST = "SELECT * FROM event_rows WHERE session = ? AND seq < ? ORDER BY seq DESC LIMIT ?"
_BODIES = """
    SELECT * FROM event_bodies
    WHERE session = ? AND number IN (SELECT value FROM json_each(?)) ORDER BY number
"""
_FOLLOWING = "SELECT * FROM event_bodies WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?"
_ROWS = """
    SELECT * FROM event_rows
    WHERE session = ? AND number IN (SELECT value FROM json_each(?)) ORDER BY number
"""
_OF_INVOCATION = """
    SELECT * FROM event_bodies WHERE session = ? AND invocation_id = ? AND seq > ? ORDER BY seq
"""
_ROWS_OF_INVOCATION = """
    SELECT * FROM event_rows WHERE session = ? AND invocation_id = ? AND seq < ?
    ORDER BY seq DESC LIMIT ?
"""
_LAST_ANSWERS = """
    SELECT (
        SELECT number FROM events
        WHERE session = ?1 AND invocation_id = invocations.value AND final AND seq < ?3
            AND kind IN (SELECT value FROM json_each(?4))
        ORDER BY seq DESC LIMIT 1
    ) FROM json_each(?2) AS invocations
"""
_BEGINNINGS = """
    SELECT value, (
        SELECT number FROM events WHERE session = ?1 AND invocation_id = value
        ORDER BY seq LIMIT 1
    ) FROM json_each(?2)
"""
_ASKING = """
    SELECT event_rows.*, run IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM runs JOIN imports USING (session) WHERE runs.id = event_rows.run
    )
    FROM event_rows WHERE session = ? AND author <> ? AND instr(summary, ?) > 0 ORDER BY seq
"""
_HOLDING = """
    SELECT number FROM events
    WHERE session = ? AND number >= ? AND number <= ? AND data LIKE ? ESCAPE '!'
"""
# The events ?2 to ?3 that are outside the invocation ?4 or not at or below the path ?5; if ?6 isn't
# NULL, only those whose number it lists.
_OUTSIDE = """
    SELECT number FROM events
    WHERE session = ?1 AND number >= ?2 AND number <= ?3 AND (
        invocation_id = ?4 AND substr(
            iif(json_valid(summary), json_extract(summary, '$.path'), '') || '/', 1, length(?5) + 1
        ) = ?5 || '/'
    ) IS NOT TRUE AND (?6 IS NULL OR number IN (SELECT value FROM json_each(?6))) ORDER BY number
"""
_FIRST_OUTSIDE = _OUTSIDE + "LIMIT 1"
_LAST_OUTSIDE = _OUTSIDE + "DESC LIMIT 1"
_REWINDS = "SELECT number, first FROM rewinds WHERE session = ? AND number <= ? ORDER BY number"
_COUNTS = "SELECT kind, events FROM kinds WHERE session = ? ORDER BY kind"
_LENGTH = "SELECT events FROM sessions WHERE key = ?"
_LAST_OLDER = """
    SELECT number FROM events WHERE session = ? AND timestamp < ? ORDER BY number DESC LIMIT 1
"""
_DATA = """
    SELECT data, checksum FROM events
    WHERE session = ? AND number > ? AND number <= ? ORDER BY number
"""

_HEAD = "SELECT seq, events, own_scope, user_scope, app_scope FROM sessions WHERE key = ?"
_EVENT_BY_ID = "SELECT seq, number, data FROM events WHERE session = ? AND id = ?"
# As in `EffectiveRewinds.of`, the effective rewinds are the last one, then the last one before
# the events it removes, and so on. A failed run may have no event; it is placed where it ended.
_FAILURES = f"""
    WITH RECURSIVE holding (number, first) AS (
        SELECT number, first FROM rewinds WHERE session = ?1 AND number = (
            SELECT max(number) FROM rewinds WHERE session = ?1
        )
        UNION ALL
        SELECT rewinds.number, rewinds.first FROM holding JOIN rewinds
        ON session = ?1 AND rewinds.number = (
            SELECT max(number) FROM rewinds WHERE session = ?1 AND number < holding.first
        )
    )
    SELECT (
        SELECT count(*) FROM events INDEXED BY events_failed
        WHERE session = ?1 AND {HAS_FAILED} AND NOT EXISTS (
            SELECT 1 FROM holding
            WHERE events.number >= holding.first AND events.number < holding.number
        )
    ) + (
        SELECT count(*) FROM runs WHERE session = ?1 AND status = 'failed' AND NOT EXISTS (
            SELECT 1 FROM events WHERE session = ?1 AND {HAS_FAILED} AND run = runs.id
        ) AND NOT EXISTS (
            SELECT 1 FROM holding
            CROSS JOIN events AS start ON start.session = ?1 AND start.number = holding.first
            CROSS JOIN events AS rewind ON rewind.session = ?1 AND rewind.number = holding.number
            WHERE runs.seq > start.seq AND runs.seq < rewind.seq
        )
    )
"""  # noqa: S608  (of a constant)
_ACTIVE = "SELECT id FROM runs WHERE session = ? AND status IN ('running', 'stopping')"
_INSERT = """
    INSERT INTO events (seq, number, session, run, id, invocation_id, author, branch, timestamp,
                        kind, final, summary, chunks, size, checksum, data, held)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
            (SELECT count(*) FROM chunks WHERE session = ?3 AND event = ?5), ?, ?, ?, ?)
"""
_ADVANCE = """
    UPDATE sessions SET events = ?, seq = ?, updated = ?, tokens = tokens + ? WHERE key = ?
"""
_COUNT = """
    INSERT INTO kinds (session, kind, events) VALUES (?, ?, 1)
    ON CONFLICT (session, kind) DO UPDATE SET events = events + 1
"""
_USE = "INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?)"

# From here on, the run can be resumed even if the server ends before recording anything else.
_CLEAR_MESSAGE = """
    UPDATE runs SET message = NULL, invocation_id = coalesce(invocation_id, ?) WHERE id = ?
"""

_REWIND = """
    INSERT INTO rewinds (session, number, first) VALUES (?1, ?2, coalesce((
        SELECT number FROM events WHERE session = ?1 AND invocation_id = ?3 AND number < ?2
        ORDER BY seq LIMIT 1
    ), ?2))
"""
_CAME_OF = "UPDATE spans SET event = ? WHERE run = ? AND number = ?"
_ADD_CHUNK = "INSERT INTO chunks (session, run, event, data) VALUES (?, ?, ?, ?)"
# Chunks may be flushed after their event was committed, so its count is updated here.
_COUNT_CHUNKS = "UPDATE events SET chunks = chunks + ? WHERE session = ? AND id = ?"
_CHUNKS = "SELECT data FROM chunks WHERE session = ? AND event = ? ORDER BY position"


class Events:
    def __init__(self, database: Database) -> None:
        self._database = database
        self.on_said: Callable[[str], None] | None = None
        """Called with the JSON of each user event before it is committed."""

    async def append(
        self,
        session_key: int,
        event: NewEvent,
        run: str | None,
        *,
        last_seen: int | None = None,
        last_written: int | None = None,
    ) -> Appended:
        """Commit the event, its state delta and the session's new head in one transaction.

        If the session already has an event with this id, returns the first outcome if the data is
        the same, and raises EventConflict otherwise. Once accepted, the append is carried out even
        if the caller is cancelled (R40); append the same event again to learn the outcome.

        Raises SessionNotFound; RunNotActive if the run may no longer write; without a run,
        RunActive while one is active and ReadOnly if the session was imported; StaleSession if
        there are events after number `last_seen`, or if a key of the delta was last written at
        another seq than `last_written` (0 for never); BadValue.
        """
        check_event(event)
        optional_text(run, "the run's id")
        routed = route_delta(event.state_delta)
        if self.on_said is not None and event.author == USER:
            self.on_said(event.data)

        def work(connection: sqlite3.Connection) -> Appended:
            if last_written is not None:
                require_written(connection, session_key, routed, last_written)
            return _append(
                connection, session_key, event, routed=routed, run=run, last_seen=last_seen
            )

        size = len(event.data) + len(event.summary_json)
        return await self._database.write(work, size=size)

    async def page(
        self,
        session_key: int,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int,
    ) -> list[EventRow]:
        """Return at most `limit` rows in ascending order.

        With `after`, the first rows above that seq, and below `before` if given; otherwise the last
        rows below the seq `before` or, without it, of the session.
        """
        read = self._database.find if limit <= _FEW else self._database.fetch
        end = _END if before is None else before
        if after is None:
            rows = await read(_LAST, session_key, end, max(limit, 0))
            return [event_row(row) for row in reversed(rows)]
        rows = await read(_FIRST, session_key, after, end, max(limit, 0))
        return [event_row(row) for row in rows]

    async def since(self, session_key: int, seq: int) -> list[EventRow]:
        """Return all rows above the seq, in ascending order."""
        rows = await self._database.fetch(_FIRST, session_key, seq, _END, _NO_LIMIT)
        return [event_row(row) for row in rows]

    async def body(self, session_key: int, number: int) -> tuple[EventRow, Event] | None:
        """Return the event with its row, or None if the session has no such number."""
        bodies = await self.bodies(session_key, [number])
        return bodies[0] if bodies else None

    async def bodies(
        self, session_key: int, numbers: Iterable[int]
    ) -> list[tuple[EventRow, Event]]:
        """Return the events with these numbers and their rows, ascending; skips missing events."""
        numbers_json = json.dumps([bounded(number) for number in numbers])
        return [
            event_body(row)
            for row in await self._database.fetch(_BODIES, session_key, numbers_json)
        ]

    async def rows(self, session_key: int, numbers: Iterable[int]) -> list[EventRow]:
        """Return the rows of the events with these numbers, ascending; skips missing events."""
        numbers_json = json.dumps([bounded(number) for number in numbers])
        return [
            event_row(row) for row in await self._database.fetch(_ROWS, session_key, numbers_json)
        ]

    async def following(
        self, session_key: int, seq: int, limit: int
    ) -> list[tuple[EventRow, Event]]:
        """Return the first `limit` events above the seq, with their rows, in ascending order."""
        rows = await self._database.find(_FOLLOWING, session_key, seq, max(limit, 0))
        return [event_body(row) for row in rows]

    async def asking(self, session_key: int, call: str) -> list[tuple[EventRow, bool]]:
        """Return the rows that may hold the call with this id, and for each whether a run on this
        server wrote it.

        Imported events weren't written here, whatever they claim.
        """
        call_json = json.dumps(call, ensure_ascii=False)  # as summaries are
        rows = await self._database.fetch(_ASKING, session_key, USER, call_json)
        return [(event_row(row[:-1]), bool(row[-1])) for row in rows]

    async def of_invocation(
        self, session_key: int, invocation: str, *, after: int = 0
    ) -> list[tuple[EventRow, Event]]:
        """Return the invocation's events above the seq `after`, with their rows, in ascending
        order."""
        rows = await self._database.fetch(_OF_INVOCATION, session_key, invocation, after)
        return [event_body(row) for row in rows]

    async def failures(self, session_key: int) -> int:
        """Return the number of events with an error, a tool's included, and of failed runs without
        such an event.

        Leaves out what a rewind has taken back.
        """
        [(count,)] = await self._database.find(_FAILURES, session_key)
        return int(count)

    async def rows_of_invocation(
        self, session_key: int, invocation: str, *, before: int = _END, limit: int = _NO_LIMIT
    ) -> list[EventRow]:
        """Return the invocation's last `limit` rows below the seq `before`, in ascending order."""
        values = (session_key, invocation, before, limit)
        rows = await self._database.fetch(_ROWS_OF_INVOCATION, *values)
        return [event_row(row) for row in reversed(rows)]

    async def beginnings(self, session_key: int, invocations: Iterable[str]) -> dict[str, int]:
        """Return the number of each invocation's first event."""
        names = json.dumps([*set(invocations)])
        rows = await self._database.fetch(_BEGINNINGS, session_key, names)
        return {name: number for name, number in rows if number is not None}

    async def last_answers(
        self, session_key: int, invocations: Iterable[str], *, before: int = _END
    ) -> set[int]:
        """Return the number of each invocation's last answer below the seq `before`."""
        names = json.dumps([*set(invocations)])
        values = (session_key, names, before, json.dumps([*ANSWERS]))
        rows = await self._database.fetch(_LAST_ANSWERS, *values)
        return {number for (number,) in rows if number is not None}

    async def outside(
        self,
        session_key: int,
        invocation: str,
        path: str,
        numbers: Sequence[int],
        *,
        is_last: bool,
    ) -> int | None:
        """Return the first or last number whose event is from outside an agent's subtree; None if
        there is none.

        The agent is the one at `path` (as in `Summary`) in the invocation. `numbers` ascend; pass a
        range for contiguous events, which is faster.
        """
        if not numbers:
            return None
        query = _LAST_OUTSIDE if is_last else _FIRST_OUTSIDE
        some = None if isinstance(numbers, range) else json.dumps([*numbers])
        values = (session_key, numbers[0], numbers[-1], invocation, path, some)
        rows = await self._database.fetch(query, *values)
        return rows[0][0] if rows else None

    async def json(
        self,
        session_key: int,
        *,
        after_timestamp: float | None = None,
        num_recent: int | None = None,
        batch: int = 500,
    ) -> AsyncIterator[str]:
        """Yield the JSON of the session's events in order, verbatim.

        `num_recent` keeps only that many of the last events; of those, `after_timestamp` keeps the
        ones after the last event that is older (as ADK's in-memory service does). Leaves out events
        that are appended meanwhile. Reads `batch` events at a time, so that others can read in
        between.
        """
        number, end = await self._range(session_key, after_timestamp, num_recent)
        while number < end:
            stop = min(number + batch, end)
            rows = await self._database.fetch(_DATA, session_key, number, stop)
            for place, (data, checksum) in enumerate(rows, number + 1):
                body = None if intact(data, checksum) else await self.body(session_key, place)
                yield body[1].text if body else data
            number = stop

    async def counts(self, session_key: int) -> dict[str, int]:
        """Return the session's number of events by kind."""
        return dict(await self._database.fetch(_COUNTS, session_key))

    async def rewinds(self, session_key: int, *, until: int = _END) -> list[Rewind]:
        """Return the events that rewind the session, up to event `until`, in ascending order."""
        return [Rewind(*row) for row in await self._database.fetch(_REWINDS, session_key, until)]

    async def holding(self, session_key: int, text: str, *, first: int, last: int) -> set[int]:
        """Return the numbers from `first` to `last` whose event contains the text in its JSON.

        `text` is matched as written there, escapes included, ignoring the case of ASCII letters.
        """
        pattern = "".join(f"!{each}" if each in "!%_" else each for each in text)
        rows = await self._database.fetch(_HOLDING, session_key, first, last, f"%{pattern}%")
        return {number for (number,) in rows}

    async def add_chunks(
        self, session_key: int, run: str | None, chunks: Sequence[tuple[str, str]]
    ) -> None:
        """Record partial events, given in order as pairs of event id and JSON.

        Raises SessionNotFound, BadValue. Not idempotent: pass each batch once.
        """
        optional_text(run, "the run's id")
        for event_id, data in chunks:
            clean_text(event_id, "the event's id")
            clean_text(data, f"a chunk of event {event_id!r}")

        def work(connection: sqlite3.Connection) -> None:
            key = require_session(connection, session_key).key
            connection.executemany(_ADD_CHUNK, [(key, run, *chunk) for chunk in chunks])
            added = Counter(event_id for event_id, _ in chunks)
            connection.executemany(
                _COUNT_CHUNKS, [(count, key, event_id) for event_id, count in added.items()]
            )

        await self._database.write(work)

    async def chunks(self, session_key: int, event_id: str) -> list[str]:
        """Return the JSON of the partial events with this id, in order."""
        rows = await self._database.fetch(_CHUNKS, session_key, event_id)
        return [data for (data,) in rows]

    async def _range(
        self, session_key: int, after_timestamp: float | None, num_recent: int | None
    ) -> tuple[int, int]:
        """Return the number before the first requested event, and that of the last one."""
        rows = await self._database.find(_LENGTH, session_key)
        end = rows[0][0] if rows else 0
        start = 0 if num_recent is None else max(0, end - max(num_recent, 0))
        if after_timestamp is not None:
            older = await self._database.fetch(_LAST_OLDER, session_key, after_timestamp)
            start = max(start, older[0][0] if older else 0)
        return start, end


def history(events: Iterable[NewEvent]) -> History:
    """Return a function that appends the events to a session being created (`Sessions.create`).

    Raises BadValue immediately; the function raises EventConflict.
    """
    pairs = [(event, route_delta(event.state_delta)) for event in events]
    for event, _ in pairs:
        check_event(event)

    def work(connection: sqlite3.Connection, session: int) -> None:
        for event, routed in pairs:
            _append(connection, session, event, routed=routed, run=None)

    return work


def adopt(connection: sqlite3.Connection, session: int, event: NewEvent, run: str | None) -> None:
    """Append an event from another journal; for use inside a job.

    `run` needn't exist in this journal. Raises BadValue.
    """
    check_event(event)
    routed = route_delta(event.state_delta)
    [(_, length, *scopes)] = connection.execute(_HEAD, (session,))
    seq = advance(connection)
    _insert(connection, (seq, length + 1, session, run), event)
    write_state(connection, seq, Scopes(*scopes), routed)


def _append(
    connection: sqlite3.Connection,
    session: int,
    event: NewEvent,
    *,
    routed: list[Routed],
    run: str | None,
    last_seen: int | None = None,
) -> Appended:
    key = bounded(session)
    heads = connection.execute(_HEAD, (key,)).fetchall()
    if not heads:
        raise SessionNotFound(f"no session has the key {session!r}; it may have been deleted")
    rows = connection.execute(_EVENT_BY_ID, (key, event.id)).fetchall()
    if rows:
        return _again(rows[0], event)
    _check_lease(connection, session, run)
    previous, length, *scopes = heads[0]
    if last_seen not in (None, length):
        raise StaleSession(
            f"the session has come to event #{length}, and you had seen #{last_seen}"
        )
    seq, number = advance(connection), length + 1
    _insert(connection, (seq, number, session, run), event)
    write_state(connection, seq, Scopes(*scopes), routed)
    if event.spans:
        connection.executemany(_CAME_OF, [(number, run, span) for span in event.spans])
    if run is not None and event.author == USER and event.says:
        connection.execute(_CLEAR_MESSAGE, (event.invocation_id or None, run))
    return Appended(seq, number, duplicate=False, previous=previous)


def _again(row: tuple[int, int, str], event: NewEvent) -> Appended:
    seq, number, data = row
    if data != event.data:
        raise EventConflict(
            f"the session already holds event {event.id!r} as #{number} with other content; "
            "a new event needs a new id"
        )
    return Appended(seq, number, duplicate=True)


def _check_lease(connection: sqlite3.Connection, session: int, run: str | None) -> None:
    """Raise unless `run` may write to the session.

    While a run is active, only it may write; otherwise, anyone but a run may (R38). Nobody may
    write to an imported session, so no run begins there (R27).
    """
    active = connection.execute(_ACTIVE, (session,)).fetchall()
    if run is not None and active != [(run,)]:
        raise RunNotActive(f"the run {run!r} is not the active run of session {session!r}")
    if run is None and active:
        raise RunActive(f"session {session!r} has the active run {active[0][0]!r}: stop it first")
    if run is None:
        require_writable(connection, session)


def _insert(
    connection: sqlite3.Connection, place: tuple[int, int, int, str | None], event: NewEvent
) -> None:
    seq, number, session, _ = place
    connection.execute(
        _INSERT,
        (
            *place,
            event.id,
            event.invocation_id,
            event.author,
            event.branch,
            event.timestamp,
            event.kind,
            event.final,
            event.summary_json,
            *measure(event.data),
            event.data,
            event.paused,
        ),
    )
    connection.execute(_ADVANCE, (number, seq, event.timestamp, believed(event.tokens), session))
    connection.execute(_COUNT, (session, event.kind))
    if event.rewinds is not None:
        connection.execute(_REWIND, (session, number, event.rewinds))
    if (usage := event.usage) is not None:
        counts = (usage.model, usage.prompt, usage.cached, usage.output, usage.thoughts)
        connection.execute(_USE, (session, number, event.author, *counts))
