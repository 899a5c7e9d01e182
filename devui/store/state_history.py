"""The history of each state key, and the writes that aren't committed yet.

A session sees the keys of three scopes, two of which other sessions write to as well (those of a
fork are its own). All reads use the index of a key's writes, so their cost depends on the result
and not on the length of the session.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from devui.store.rows import EventRow, NewTouch, Scope, TouchRow, Write
from devui.store.sessions import require_session
from devui.store.sqlite.database import Database
from devui.store.state import prefixed, scoped
from devui.store.values import clean_text, optional_text

_END = 2**63 - 1

# The subquery for the session's scope of this kind yields one value, so that the index orders the
# writes. Writers are found by seq, which is unique among the events of all sessions.
_WRITES = """
    SELECT writes.seq, writes.value, event_rows.*
    FROM writes LEFT JOIN event_rows ON event_rows.seq = writes.seq
    WHERE writes.scope = (
        SELECT scopes.id FROM sessions
        JOIN scopes ON scopes.id IN (own_scope, user_scope, app_scope)
        WHERE sessions.key = ?1 AND scopes.kind = ?2
    ) AND writes.key = ?3 AND writes.seq <= ?4
    ORDER BY writes.seq DESC LIMIT ?5
"""
# The sessions whose initial state has one of the writes: searched once for all writes, among the
# app's sessions that have changed since the first of them.
_BEGAN = """
    SELECT born, key FROM sessions
    WHERE app = (SELECT app FROM sessions WHERE key = ?1) AND seq >= ?2
    AND born IN (SELECT value FROM json_each(?3))
"""
_PREVIOUS = """
    SELECT events.number FROM writes CROSS JOIN events ON events.seq = writes.seq
    WHERE writes.scope = (
        SELECT scopes.id FROM sessions
        JOIN scopes ON scopes.id IN (own_scope, user_scope, app_scope)
        WHERE sessions.key = ?1 AND scopes.kind = ?2
    ) AND writes.key = ?3 AND writes.seq < ?4 AND events.session = ?1
    ORDER BY writes.seq DESC LIMIT 1
"""
_NEXT = """
    SELECT events.number FROM writes CROSS JOIN events ON events.seq = writes.seq
    WHERE writes.scope = (
        SELECT scopes.id FROM sessions
        JOIN scopes ON scopes.id IN (own_scope, user_scope, app_scope)
        WHERE sessions.key = ?1 AND scopes.kind = ?2
    ) AND writes.key = ?3 AND writes.seq > ?4 AND events.session = ?1
    ORDER BY writes.seq LIMIT 1
"""
# One step of the recursion per key: the next larger key of the scope, found by index.
_KEYS = """
    WITH RECURSIVE keys (scope, kind, key) AS (
        SELECT scopes.id, scopes.kind,
               (SELECT min(writes.key) FROM writes WHERE writes.scope = scopes.id)
        FROM sessions JOIN scopes ON scopes.id IN (own_scope, user_scope, app_scope)
        WHERE sessions.key = ?
        UNION ALL
        SELECT keys.scope, keys.kind,
               (SELECT min(writes.key) FROM writes
                WHERE writes.scope = keys.scope AND writes.key > keys.key)
        FROM keys WHERE keys.key IS NOT NULL
    )
    SELECT scope, kind, key FROM keys WHERE key IS NOT NULL
"""
_WRITERS = """
    SELECT events.number FROM writes CROSS JOIN events ON events.seq = writes.seq
    WHERE writes.scope = ?2 AND writes.key = ?3 AND events.session = ?1 AND writes.seq BETWEEN
        (SELECT seq FROM events WHERE session = ?1 AND number = ?4) AND
        (SELECT seq FROM events WHERE session = ?1 AND number = ?5)
"""
_WRITTEN = """
    SELECT events.number, scopes.kind, writes.key, writes.value FROM events
    JOIN writes ON writes.seq = events.seq JOIN scopes ON scopes.id = writes.scope
    WHERE events.session = ?1 AND events.number BETWEEN ?2 AND ?3
    AND (?4 IS NULL OR writes.key IN (SELECT value FROM json_each(?4)))
"""
_ANY_PREVIOUS = """
    SELECT number FROM events WHERE session = ?1 AND seq < ?2
    AND EXISTS (SELECT 1 FROM writes WHERE writes.seq = events.seq) ORDER BY seq DESC LIMIT 1
"""
_ANY_NEXT = """
    SELECT number FROM events WHERE session = ?1 AND seq > ?2
    AND EXISTS (SELECT 1 FROM writes WHERE writes.seq = events.seq) ORDER BY seq LIMIT 1
"""


class Histories:
    """Reads which events wrote a key, and when."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def writes(
        self, session_key: int, scope: Scope, key: str, *, until: int | None = None, limit: int
    ) -> list[Write]:
        """Return the last `limit` writes of the key up to the journal's seq `until`, ascending.

        `key` has no prefix. Includes what other sessions wrote to shared keys.
        """
        end = _END if until is None else until
        parameters = (session_key, scope, key, end, max(limit, 0))
        rows = await self._database.fetch(_WRITES, *parameters)
        began = await self._began(session_key, [seq for seq, _, event, *_ in rows if event is None])
        return [_write(row, began.get(row[0])) for row in reversed(rows)]

    async def _began(self, session_key: int, seqs: Sequence[int]) -> dict[int, int]:
        """Return the sessions whose initial state has these writes, by the write's seq."""
        if not seqs:
            return {}
        parameters = (session_key, min(seqs), json.dumps(seqs))
        return dict(await self._database.fetch(_BEGAN, *parameters))

    async def previous(self, session_key: int, scope: Scope, key: str, seq: int) -> int | None:
        """Return the number of this session's last event before the seq that wrote the key."""
        return _first(await self._database.fetch(_PREVIOUS, session_key, scope, key, seq))

    async def next(self, session_key: int, scope: Scope, key: str, seq: int) -> int | None:
        """Return the number of this session's first event after the seq that wrote the key."""
        return _first(await self._database.fetch(_NEXT, session_key, scope, key, seq))

    async def writers(
        self, session_key: int, matches: Callable[[str], bool], *, first: int, last: int
    ) -> dict[int, list[str]]:
        """Return the matching keys, with their prefixes, that the events `first` to `last` wrote,
        by the event's number."""
        by_number: dict[int, list[str]] = {}
        for scope, kind, key in await self._database.fetch(_KEYS, session_key):
            name = prefixed(kind, key)
            if matches(name):
                parameters = (session_key, scope, key, first, last)
                for (number,) in await self._database.fetch(_WRITERS, *parameters):
                    by_number.setdefault(number, []).append(name)
        return by_number

    async def deltas(
        self, session_key: int, *, first: int, last: int, keys: Iterable[str] | None = None
    ) -> dict[int, dict[str, str]]:
        """Return the writes of the events `first` to `last`, by the event's number: JSON texts by
        key, with its prefix.

        `keys` restricts them to these keys, in any scope.
        """
        names = None if keys is None else json.dumps([scoped(key)[1] for key in keys])
        by_number: dict[int, dict[str, str]] = {}
        rows = await self._database.fetch(_WRITTEN, session_key, first, last, names)
        for number, scope, key, value in rows:
            by_number.setdefault(number, {})[prefixed(scope, key)] = value
        return by_number

    async def change(self, session_key: int, seq: int, *, back: bool) -> int | None:
        """Return the number of the session's nearest event that wrote any key: before the seq if
        `back`, else after it."""
        sql = _ANY_PREVIOUS if back else _ANY_NEXT
        return _first(await self._database.fetch(sql, session_key, seq))


def _write(row: Sequence[Any], began: int | None) -> Write:
    seq, value, *event = row
    has_event = event[0] is not None
    return Write(seq, value, began=began, event=EventRow(*event) if has_event else None)


def _first(rows: Sequence[tuple[int]]) -> int | None:
    return rows[0][0] if rows else None


_PUT = """
    INSERT INTO uncommitted (run, number, session, event, flagged, data) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (run, number) DO UPDATE
    SET event = excluded.event, flagged = excluded.flagged, data = excluded.data
"""
_OF_RUN = "SELECT * FROM uncommitted_rows WHERE run = ? ORDER BY number"
_OF_SESSION = "SELECT * FROM uncommitted_rows WHERE session = ? ORDER BY run, number LIMIT ?"


class Uncommitted:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, session_key: int, run: str, touches: Sequence[NewTouch]) -> None:
        """Record writes and reads, or update those with the same numbers.

        Raises SessionNotFound, BadValue.
        """
        for touch in touches:
            clean_text(touch.data, f"what the run {run!r} did to its state")
            optional_text(touch.event, "the event's id")
            optional_text(touch.flagged, "the event's id")

        def work(connection: sqlite3.Connection) -> None:
            require_session(connection, session_key)
            connection.executemany(
                _PUT,
                [(run, t.number, session_key, t.event, t.flagged, t.data) for t in touches],
            )

        await self._database.write(work)

    async def of_run(self, run: str) -> list[TouchRow]:
        """Return the run's uncommitted writes and reads of them, in order."""
        return [TouchRow(*row) for row in await self._database.find(_OF_RUN, run)]

    async def of_session(self, session_key: int, limit: int) -> list[TouchRow]:
        """Return at most `limit` uncommitted writes and reads of the session, run by run."""
        rows = await self._database.fetch(_OF_SESSION, session_key, limit)
        return [TouchRow(*row) for row in rows]
