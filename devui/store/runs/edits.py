"""People's edits at gates: stored before they take effect, and kept permanently."""

import sqlite3
from dataclasses import astuple
from typing import Any

from devui.store.rows import EditRow, NewEdit
from devui.store.sessions import require_session
from devui.store.sqlite.database import Database, advance
from devui.store.values import clean_text

_INSERT = """
    INSERT INTO edits (session, run, gate, agent, tool, call, event, action, actor, at,
                       before, after, turn, seq)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_TAKE_BACK = "DELETE FROM edits WHERE id = ?"
_DROPPED = "SELECT * FROM edit_rows WHERE session = ? AND seq > ? AND seq < ? ORDER BY seq"
_END = 2**63 - 1
_LIST = "SELECT * FROM edit_rows WHERE session = ? ORDER BY id"


class Edits:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, session_key: int, edit: NewEdit) -> EditRow:
        """Record an edit, and return its row. Raises SessionNotFound, BadValue."""
        for value in astuple(edit):
            if isinstance(value, str):
                clean_text(value, "the edit")

        def work(connection: sqlite3.Connection) -> EditRow:
            require_session(connection, session_key)
            seq = advance(connection) if edit.action == "drop" else None
            row = (session_key, *astuple(edit), seq)
            number = connection.execute(_INSERT, row).lastrowid or 0
            return EditRow(number, session_key, edit, seq)

        return await self._database.write(work)

    async def take_back(self, number: int) -> None:
        """Delete an edit that wasn't carried out."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(_TAKE_BACK, (number,))

        await self._database.write(work)

    async def dropped(self, session_key: int, after: int, before: int = _END) -> list[EditRow]:
        """Return the edits that dropped events between two seqs of the journal, in order."""
        rows = await self._database.find(_DROPPED, session_key, after, before)
        return [_row(*row) for row in rows]

    # Last in the class: below it, `list` names this method in annotations.
    async def list(self, session_key: int) -> list[EditRow]:
        """Return the session's edits, oldest first."""
        rows = await self._database.fetch(_LIST, session_key)
        return [_row(*row) for row in rows]


def _row(number: int, session: int, *values: Any) -> EditRow:
    return EditRow(number, session, NewEdit(*values[:-1]), values[-1])
