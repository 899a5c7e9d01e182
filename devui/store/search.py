"""The full-text index of the events of all sessions: an FTS5 table beside the events.

Appends don't update it; a search does so first, by adding the events above the highest indexed seq.
Deleting an event removes it from the index in the same transaction.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate, takewhile
from typing import Final, NamedTuple

from devui.store.rows import EventRow, NoteRow, SessionRow
from devui.store.sqlite.database import Database
from devui.store.values import bounded, event_body, event_row
from devui.wire.events import Event

_BYTES: Final = 4_000_000
"""How many bytes of events are read at a time, unless a single one is larger."""

_PROGRESS = """
    SELECT coalesce((SELECT max(seq) FROM search_texts), 0),
           coalesce((SELECT max(seq) FROM events), 0)
"""
_SIZES = "SELECT seq, size FROM events WHERE seq > ? ORDER BY seq LIMIT ?"
_BETWEEN = "SELECT * FROM event_bodies WHERE seq > ? AND seq <= ? ORDER BY seq"
# Leaves out an event that was deleted since it was read.
_ADD = """
    INSERT OR IGNORE INTO search_texts (seq, place, said, agent, tool, key, kind, flag)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE EXISTS (SELECT 1 FROM events WHERE seq = ?1)
"""
_INDEX = """
    INSERT INTO search_index (rowid, place, said, agent, tool, key, kind, flag)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_FORGET = """
    INSERT INTO search_index (search_index, rowid, place, said, agent, tool, key, kind, flag)
    SELECT 'delete', seq, place, said, agent, tool, key, kind, flag FROM search_texts
    WHERE seq IN (SELECT seq FROM events WHERE session = ?)
"""
# Leaves out what a fork has copied, unless ?4 is set or its parent no longer exists.
_OWN = """
    (?4 OR NOT EXISTS (
        SELECT 1 FROM forks JOIN sessions ON sessions.key = forks.parent
        WHERE forks.session = events.session AND events.number <= forks.number
    ))
"""
_AMONG = "(?5 IS NULL OR events.session IN (SELECT value FROM json_each(?5)))"
_MATCHING = f"""
    SELECT events.seq, events.session FROM search_index
    JOIN events ON events.seq = search_index.rowid
    WHERE search_index MATCH ?6 AND search_index.rowid < ?1
      AND events.session NOT IN (SELECT value FROM json_each(?2)) AND {_AMONG} AND {_OWN}
    ORDER BY search_index.rowid DESC LIMIT ?3
"""  # noqa: S608  (of constants, as below)
_NOTED = f"""
    SELECT events.seq, events.session FROM notes
    JOIN events ON events.session = notes.session AND events.number = notes.number
    WHERE events.seq < ?1 AND events.session NOT IN (SELECT value FROM json_each(?2))
      AND {_AMONG}
    ORDER BY events.seq DESC LIMIT ?3
"""  # noqa: S608
_ALL = f"""
    SELECT seq, session FROM events
    WHERE seq < ?1 AND session NOT IN (SELECT value FROM json_each(?2)) AND {_OWN}
    ORDER BY seq DESC LIMIT ?3
"""  # noqa: S608
_ALL_AMONG = f"""
    SELECT seq, session FROM events
    WHERE session IN (SELECT value FROM json_each(?5)) AND seq < ?1
      AND session NOT IN (SELECT value FROM json_each(?2)) AND {_OWN}
    ORDER BY seq DESC LIMIT ?3
"""  # noqa: S608
_ROWS = "SELECT * FROM event_rows WHERE seq IN (SELECT value FROM json_each(?))"
_BODIES = "SELECT * FROM event_bodies WHERE seq IN (SELECT value FROM json_each(?))"
_BEFORE = """
    SELECT events.seq, event_rows.* FROM events
    JOIN event_rows ON event_rows.session = events.session
                   AND event_rows.number = events.number - 1
    WHERE events.seq IN (SELECT value FROM json_each(?))
"""
_NOTES = """
    SELECT events.seq, note_rows.* FROM events
    JOIN note_rows ON note_rows.session = events.session AND note_rows.number = events.number
    WHERE events.seq IN (SELECT value FROM json_each(?))
"""
_SESSIONS = "SELECT * FROM session_rows WHERE key IN (SELECT value FROM json_each(?))"
_TITLED = """
    SELECT * FROM session_rows
    WHERE (title LIKE ?1 ESCAPE '!' OR id LIKE ?2 ESCAPE '!' OR '' || key = ?3)
      AND (?5 IS NULL OR key IN (SELECT value FROM json_each(?5)))
    ORDER BY '' || key = ?3 DESC, updated DESC, seq DESC LIMIT ?4
"""


class SearchText(NamedTuple):
    """The indexed texts of one event; multiple values of a field are separated by line breaks."""

    seq: int
    place: str
    said: str
    agent: str
    tool: str
    key: str
    kind: str
    flag: str


class Candidate(NamedTuple):
    """An event that may match."""

    seq: int
    session: int


class SearchScope(NamedTuple):
    """Where to look for events."""

    before: int
    """Only below this seq."""
    but: Collection[int] = ()
    """Keys of sessions to leave out."""
    among: Collection[int] | None = None
    """Keys of the sessions to look in; None for all."""
    copies: bool = False
    """Whether to include events that forks copied."""

    def values(self, limit: int) -> tuple[int, str, int, bool, str | None]:
        """Return the parameters of a query."""
        among = None if self.among is None else json.dumps([*self.among])
        return self.before, json.dumps([*self.but]), limit, self.copies, among


def forget(connection: sqlite3.Connection, session: int) -> None:
    """Remove a session's events from the index before they are deleted; for use inside a job."""
    connection.execute(_FORGET, (bounded(session),))


class Search:
    """The journal's full-text index."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def progress(self) -> tuple[int, int]:
        """Return the seq of the last indexed event and that of the last event; 0 if none."""
        [(last_indexed, last)] = await self._database.fetch(_PROGRESS)
        return last_indexed, last

    async def following(self, seq: int, limit: int) -> list[tuple[EventRow, Event]]:
        """Return the next events of all sessions above the seq, with their rows.

        Returns at most `limit` events, and fewer if they are large.
        """
        sizes = await self._database.fetch(_SIZES, seq, limit)
        sums = accumulate(size for _, size in sizes)
        count = sum(1 for _ in takewhile(lambda total: total <= _BYTES, sums))
        if not sizes:
            return []
        last = sizes[max(count, 1) - 1][0]
        return [event_body(row) for row in await self._database.fetch(_BETWEEN, seq, last)]

    async def add(self, texts: Sequence[SearchText]) -> None:
        """Add events to the index, except those deleted meanwhile."""

        def work(connection: sqlite3.Connection) -> None:
            for text in texts:
                if connection.execute(_ADD, text).rowcount:
                    connection.execute(_INDEX, text)

        await self._database.write(work)

    async def matching(self, query: str, scope: SearchScope, limit: int) -> list[Candidate]:
        """Return the events that match an FTS5 query, newest first."""
        rows = await self._database.fetch(_MATCHING, *scope.values(limit), query)
        return [Candidate(*row) for row in rows]

    async def with_notes(self, scope: SearchScope, limit: int) -> list[Candidate]:
        """Return the events with a star or note, newest first; those of forks are their own."""
        rows = await self._database.fetch(_NOTED, *scope.values(limit))
        return [Candidate(*row) for row in rows]

    async def all(self, scope: SearchScope, limit: int) -> list[Candidate]:
        """Return all events, newest first."""
        *place, among = scope.values(limit)
        statement = _ALL if among is None else _ALL_AMONG
        values = place if among is None else (*place, among)
        rows = await self._database.fetch(statement, *values)
        return [Candidate(*row) for row in rows]

    async def rows(self, seqs: Iterable[int]) -> dict[int, EventRow]:
        """Return the rows of these events, by seq."""
        rows = await self._database.fetch(_ROWS, json.dumps([*seqs]))
        return {row.seq: row for row in map(event_row, rows)}

    async def bodies(self, seqs: Iterable[int]) -> dict[int, Event]:
        """Return these events, by seq."""
        rows = await self._database.fetch(_BODIES, json.dumps([*seqs]))
        return {row.seq: event for row, event in map(event_body, rows)}

    async def previous(self, seqs: Iterable[int]) -> dict[int, EventRow]:
        """Return the row of the preceding event in the same session, by the seq of each event."""
        rows = await self._database.fetch(_BEFORE, json.dumps([*seqs]))
        return {seq: event_row(row) for seq, *row in rows}

    async def notes(self, seqs: Iterable[int]) -> dict[int, NoteRow]:
        """Return the notes on these events, by the event's seq."""
        rows = await self._database.fetch(_NOTES, json.dumps([*seqs]))
        return {seq: NoteRow(*row) for seq, *row in rows}

    async def sessions(self, keys: Iterable[int]) -> dict[int, SessionRow]:
        """Return these sessions, by key."""
        rows = await self._database.fetch(_SESSIONS, json.dumps([*keys]))
        return {row[0]: SessionRow(*row) for row in rows}

    async def by_title(
        self, text: str, limit: int, among: Collection[int] | None = None
    ) -> list[SessionRow]:
        """Return the session whose key is `text`, then those with `text` in their title or at the
        start of their id, most recently active first; with `among`, only of those keys."""
        pattern = "".join(f"!{each}" if each in "!%_" else each for each in text)
        keys = None if among is None else json.dumps([*among])
        values = (f"%{pattern}%", f"{pattern}%", text, limit, keys)
        rows = await self._database.fetch(_TITLED, *values)
        return [SessionRow(*row) for row in rows]
