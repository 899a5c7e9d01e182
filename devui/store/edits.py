"""What people changed of what was held at a gate: written before it takes effect, kept for good."""

import sqlite3
from dataclasses import astuple

from devui.store.database import Database
from devui.store.rows import EditRow, NewEdit
from devui.store.sessions import require_session
from devui.store.values import clean_text

_INSERT = """
    INSERT INTO edits (session, run, gate, agent, tool, call, event, action, actor, at,
                       before, after)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_LIST = "SELECT * FROM edit_rows WHERE session = ? ORDER BY id"


class Edits:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, session_key: int, edit: NewEdit) -> int:
        """Record an edit and return its number. Raises SessionNotFound, BadValue."""
        for value in astuple(edit):
            if isinstance(value, str):
                clean_text(value, "the edit")

        def work(connection: sqlite3.Connection) -> int:
            require_session(connection, session_key)
            return connection.execute(_INSERT, (session_key, *astuple(edit))).lastrowid or 0

        return await self._database.write(work)

    # Last in the class: below it, `list` names this method in annotations.
    async def list(self, session_key: int) -> list[EditRow]:
        """Return the session's edits, the oldest first."""
        rows = await self._database.fetch(_LIST, session_key)
        return [EditRow(number, session, NewEdit(*values)) for number, session, *values in rows]
