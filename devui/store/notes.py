"""Notes and stars: people's comments on a session, or on one of its events.

Agents don't see them. A fork copies those on the events that it begins with.
"""

import sqlite3
from collections.abc import Callable, Iterable
from typing import Any, Final

from devui.store.errors import BadValue, EventNotFound
from devui.store.rows import NoteRow
from devui.store.sessions import require_session
from devui.store.sqlite.database import Database
from devui.store.values import bounded, clean_text

LONGEST: Final = 20_000
"""The maximum length of a note, in characters."""

_GET = "SELECT * FROM note_rows WHERE session = ? AND number = ?"
_OF = "SELECT * FROM note_rows WHERE session = ? AND number >= ? AND number <= ? ORDER BY number"
_OF_SESSIONS = """
    SELECT * FROM note_rows WHERE number = 0 AND session IN (SELECT value FROM json_each(?))
"""
_STARRED = """
    SELECT number FROM note_rows WHERE session = ? AND number > 0 AND starred = 1 ORDER BY number
"""
_PUT = """
    INSERT INTO notes (session, number, text, starred, actor, at) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (session, number) DO UPDATE
    SET text = excluded.text, starred = excluded.starred, actor = excluded.actor, at = excluded.at
"""
_FORGET = "DELETE FROM notes WHERE session = ? AND number = ?"
_END = 2**63 - 1


class Notes:
    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def put(
        self,
        session_key: int,
        number: int,
        *,
        text: str | None = None,
        starred: bool | None = None,
        actor: str,
    ) -> NoteRow:
        """Set the note or star on the event with this number; 0 stands for the session itself.

        None leaves a value unchanged; an empty text removes the note. Raises SessionNotFound,
        EventNotFound, BadValue.
        """
        clean_text(text or "", "the note")
        clean_text(actor, "the name of who writes the note")
        if len(text or "") > LONGEST:
            raise BadValue(f"a note has at most {LONGEST} characters, this one {len(text or '')}")
        now = self._clock()

        def work(connection: sqlite3.Connection) -> NoteRow:
            session = require_session(connection, session_key)
            if not 0 <= number <= session.events:
                raise EventNotFound(
                    f"session {session.key} has no event #{number}: it has {session.events}"
                )
            old = _one(connection.execute(_GET, (session.key, number)).fetchall())
            note = old or NoteRow(session.key, number, "", False, actor, now)
            new = NoteRow(
                session.key,
                number,
                note.text if text is None else text.strip(),
                note.starred if starred is None else starred,
                actor,
                now,
            )
            put_note(connection, new)
            return new

        return await self._database.write(work)

    async def get(self, session_key: int, number: int) -> NoteRow | None:
        """Return the note on one event, or on the session if `number` is 0; None if none."""
        return _one(await self._database.find(_GET, session_key, number))

    async def of(self, session_key: int, first: int = 0, last: int = _END) -> dict[int, NoteRow]:
        """Return the notes on the events `first` to `last`, by number; 0 is the session itself."""
        rows = await self._database.fetch(_OF, session_key, first, last)
        return {row[1]: _row(row) for row in rows}

    async def of_sessions(self, keys: Iterable[int]) -> dict[int, NoteRow]:
        """Return the notes on these sessions themselves, by session key."""
        keys_json = str([bounded(key) for key in keys])
        rows = await self._database.fetch(_OF_SESSIONS, keys_json)
        return {row[0]: _row(row) for row in rows}

    async def starred(self, session_key: int) -> list[int]:
        """Return the numbers of the session's starred events."""
        return [number for (number,) in await self._database.find(_STARRED, session_key)]


def notes_of(connection: sqlite3.Connection, session: int) -> list[NoteRow]:
    """Return all notes of a session; for use inside a job."""
    return [_row(row) for row in connection.execute(_OF, (session, 0, _END))]


def put_note(connection: sqlite3.Connection, note: NoteRow) -> None:
    """Store a note in place of any other, or delete it if it is empty; for use inside a job."""
    if note.text or note.starred:
        values = (note.session, note.number, note.text, note.starred, note.actor, note.at)
        connection.execute(_PUT, values)
    else:
        connection.execute(_FORGET, (note.session, note.number))


def _one(rows: list[tuple[Any, ...]]) -> NoteRow | None:
    return _row(rows[0]) if rows else None


def _row(row: tuple[Any, ...]) -> NoteRow:
    session, number, text, starred, actor, at = row
    return NoteRow(session, number, text, bool(starred), actor, at)
