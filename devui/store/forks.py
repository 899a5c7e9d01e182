"""Forks: sessions that begin with a copy of what another had committed up to some event.

Everything is copied byte for byte in one transaction, under new sequence numbers. The ids of
events, invocations and calls stay the same, since they are unique within a session and refer to
each other. File contents are shared by reference. The fork gets private user and app scopes with
the values as of that event, so that neither session changes the other's state. The parent is only
read.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence

from devui.store.errors import EventNotFound, SessionExists
from devui.store.rows import ForkRow, NewFork, SessionRow
from devui.store.sessions import History, private_scopes, require_session
from devui.store.sqlite.database import Database, advance
from devui.store.state import Scopes
from devui.store.values import bounded, clean_text, name_text, optional_text

_GET = "SELECT * FROM fork_rows WHERE session = ?"
_OF = "SELECT * FROM fork_rows WHERE parent = ? ORDER BY session"
_AMONG = "SELECT * FROM fork_rows WHERE session IN (SELECT value FROM json_each(?))"
_CLOSE = "UPDATE forks SET invocation = NULL WHERE session = ? AND invocation IS NOT NULL"

_SESSION_BY_ID = "SELECT key FROM sessions WHERE app = ? AND user = ? AND id = ?"
_CUT = "SELECT seq FROM events WHERE session = ? AND number = ?"
_PARENT = "SELECT born, own_scope, user_scope, app_scope FROM sessions WHERE key = ?"
_TAKE = "UPDATE journal SET seq = seq + ?"

_SESSION = """
    INSERT INTO sessions (app, user, id, title, created, updated, seq, events, tokens, born,
                          own_scope, user_scope, app_scope)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?)
"""
# Event n gets the seq born + 2n. What others wrote to shared keys after event n, or for n = 0 after
# the parent's creation, gets the next one.
_EVENTS = """
    INSERT INTO events (seq, number, session, run, id, invocation_id, author, branch, timestamp,
                        kind, final, summary, chunks, size, data, checksum, held)
    SELECT ?1 + 2 * number, number, ?2, run, id, invocation_id, author, branch, timestamp,
           kind, final, summary, chunks, size, data, checksum, held
    FROM events WHERE session = ?3 AND number <= ?4
"""
_CHUNKS = """
    INSERT INTO chunks (session, event, run, data)
    SELECT ?1, chunks.event, chunks.run, chunks.data
    FROM chunks JOIN events ON events.session = ?1 AND events.id = chunks.event
    WHERE chunks.session = ?2 ORDER BY chunks.position
"""
_KINDS = """
    INSERT INTO kinds (session, kind, events)
    SELECT ?1, kind, count(*) FROM events WHERE session = ?1 GROUP BY kind
"""
_WRITES = """
    INSERT INTO writes (seq, scope, key, value)
    SELECT place, ?3, key, value FROM (
        SELECT key, value, max(writes.seq), ?1 + coalesce((
            SELECT 2 * events.number + (events.seq < writes.seq) FROM events
            WHERE events.session = ?2 AND events.seq <= writes.seq
            ORDER BY events.seq DESC LIMIT 1
        ), ?6 < writes.seq) AS place
        FROM writes WHERE writes.scope = ?4 AND writes.seq <= ?5
        GROUP BY writes.key, place
    )
"""
_FILES = """
    INSERT INTO artifacts (scope, name, version, mime, size, custom_metadata, created, seq, content)
    SELECT ?3, name, version, mime, size, custom_metadata, created, ?1 + coalesce((
        SELECT 2 * events.number + (events.seq < artifacts.seq) FROM events
        WHERE events.session = ?2 AND events.seq <= artifacts.seq
        ORDER BY events.seq DESC LIMIT 1
    ), ?6 < artifacts.seq), content
    FROM artifacts WHERE artifacts.scope = ?4 AND artifacts.seq <= ?5
"""
_USAGE = """
    INSERT INTO usage (session, number, author, model, prompt, cached, output, thoughts)
    SELECT ?, number, author, model, prompt, cached, output, thoughts
    FROM usage WHERE session = ? AND number <= ?
"""
_NOTES = """
    INSERT INTO notes (session, number, text, starred, actor, at)
    SELECT ?, number, text, starred, actor, at FROM notes
    WHERE session = ? AND number BETWEEN 1 AND ?
"""
_REWINDS = """
    INSERT INTO rewinds (session, number, first)
    SELECT ?, number, first FROM rewinds WHERE session = ? AND number <= ?
"""
_TOTALS = """
    UPDATE sessions SET tokens = (
        SELECT coalesce(sum(json_extract(summary, '$.tokens')), 0) FROM events
        WHERE session = ?1 AND json_valid(summary)
    ) WHERE key = ?1
"""

# The last copied event's invocation, if it has later events or its last run didn't end as `done`.
_THROUGH = """
    SELECT invocation_id FROM events AS last
    WHERE session = ?1 AND number = ?2 AND invocation_id <> '' AND (
        EXISTS (SELECT 1 FROM events AS later WHERE later.session = ?1 AND later.number > ?2
                AND later.invocation_id = last.invocation_id)
        OR coalesce(
            (SELECT status FROM runs WHERE session = ?1 AND invocation_id = last.invocation_id
             ORDER BY seq DESC LIMIT 1),
            (SELECT 'cut' FROM forks WHERE session = ?1 AND number + (reason = 'event') = ?2
             AND invocation = last.invocation_id),
            'done'
        ) <> 'done'
    )
"""
_ADD = """
    INSERT INTO forks (session, parent, number, reason, note, invocation, created, actor)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""


class Forks:
    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def make(
        self,
        parent_key: int,
        fork: NewFork,
        *,
        history: History | None = None,
    ) -> SessionRow:
        """Create a session with the first `fork.number` events of another.

        Appends `history` in the same transaction. Events added to the parent in the meantime aren't
        copied. Raises SessionNotFound, EventNotFound, SessionExists, BadValue, and whatever
        `history` raises; no fork is made then.
        """
        name_text(fork.id, "the session's id")
        optional_text(fork.title, "the title")
        optional_text(fork.note, "the note")
        optional_text(fork.actor, "the actor")
        clean_text(fork.reason, "the fork's reason")
        now = self._clock()

        def work(connection: sqlite3.Connection) -> SessionRow:
            key = _make(connection, require_session(connection, parent_key), fork, now)
            if history is not None:
                history(connection, key)
            return require_session(connection, key)

        return await self._database.write(work)

    async def get(self, session_key: int) -> ForkRow | None:
        """Return where the session was forked; None if it isn't a fork."""
        rows = await self._database.find(_GET, session_key)
        return ForkRow(*rows[0]) if rows else None

    async def of(self, parent_key: int) -> list[ForkRow]:
        """Return the forks of a session, oldest first."""
        return [ForkRow(*row) for row in await self._database.find(_OF, parent_key)]

    async def among(self, session_keys: Sequence[int]) -> Mapping[int, ForkRow]:
        """Return the forks among the sessions, by session key."""
        keys = str([bounded(key) for key in session_keys])
        return {row[0]: ForkRow(*row) for row in await self._database.fetch(_AMONG, keys)}

    async def close(self, session_key: int) -> bool:
        """Dismiss the question about the invocation that the fork cut in two.

        Returns whether there was one.
        """

        def work(connection: sqlite3.Connection) -> bool:
            return connection.execute(_CLOSE, (bounded(session_key),)).rowcount > 0

        return await self._database.write(work)


def _make(connection: sqlite3.Connection, parent: SessionRow, fork: NewFork, now: float) -> int:
    for (key,) in connection.execute(_SESSION_BY_ID, (parent.app, parent.user, fork.id)).fetchall():
        raise SessionExists(f"user {parent.user!r} of {parent.app!r} already has {fork.id!r}", key)
    [(born_then, *then)] = connection.execute(_PARENT, (parent.key,))
    cut = _cut(connection, parent, fork.number) if fork.number else born_then
    scopes = private_scopes(connection, parent.app, parent.user)
    born, last = advance(connection), 2 * fork.number
    connection.execute(_TAKE, (last,))
    names = (parent.app, parent.user, fork.id, fork.title)
    counts = (now, now, born + last, fork.number, born)
    key = connection.execute(_SESSION, (*names, *counts, *scopes)).lastrowid or 0
    connection.execute(_EVENTS, (born, key, parent.key, fork.number))
    connection.execute(_CHUNKS, (key, parent.key))
    connection.execute(_KINDS, (key,))
    connection.execute(_USAGE, (key, parent.key, fork.number))
    connection.execute(_NOTES, (key, parent.key, fork.number))
    connection.execute(_REWINDS, (key, parent.key, fork.number))
    connection.execute(_TOTALS, (key,))
    for new, old in zip(scopes, Scopes(*then), strict=True):
        connection.execute(_WRITES, (born, parent.key, new, old, cut, born_then))
        connection.execute(_FILES, (born, parent.key, new, old, cut, born_then))
    here = fork.number + (fork.reason == "event")  # includes the event that is replaced
    through = connection.execute(_THROUGH, (parent.key, here)).fetchall()
    invocation = through[0][0] if through else None
    where = (key, parent.key, fork.number, fork.reason, fork.note, invocation, now)
    connection.execute(_ADD, (*where, fork.actor))
    return key


def _cut(connection: sqlite3.Connection, parent: SessionRow, number: int) -> int:
    rows = connection.execute(_CUT, (parent.key, bounded(number))).fetchall()
    if not rows:
        raise EventNotFound(f"session {parent.key} has no event #{number}: it has {parent.events}")
    return int(rows[0][0])
