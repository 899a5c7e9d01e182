"""The breakpoints of each app, stored until someone deletes them."""

import sqlite3
from typing import Any

from devui.store.errors import BreakpointChanged, BreakpointNotFound
from devui.store.rows import BreakpointRow
from devui.store.sqlite.database import Database
from devui.store.values import bounded, clean_text, optional_text

_ALL = "SELECT * FROM breakpoint_rows ORDER BY id"
_GET = "SELECT * FROM breakpoint_rows WHERE id = ?"
_INSERT = "INSERT INTO breakpoints (app, version, enabled, data, actor) VALUES (?, 1, ?, ?, ?)"
_CHANGE = "UPDATE breakpoints SET version = version + 1, enabled = ?, data = ? WHERE id = ?"
_DELETE = "DELETE FROM breakpoints WHERE id = ?"
_FLAGS = "SELECT breakpoint, user, enabled FROM flags ORDER BY breakpoint, user"
_FLAG = "INSERT OR REPLACE INTO flags (breakpoint, user, enabled) VALUES (?, ?, ?)"
_HIT = "UPDATE breakpoints SET hits = hits + 1 WHERE id = ?"


class Breakpoints:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> list[BreakpointRow]:
        """Return the breakpoints of all apps, oldest first."""
        return [_row(row) for row in await self._database.fetch(_ALL)]

    async def add(
        self, app: str, data: str, *, enabled: bool = True, actor: str | None = None
    ) -> BreakpointRow:
        """Add a breakpoint; `data` is JSON text. Raises BadValue."""
        clean_text(app, "the application's name")
        clean_text(data, "the breakpoint")
        optional_text(actor, "the actor")

        def work(connection: sqlite3.Connection) -> BreakpointRow:
            number = connection.execute(_INSERT, (app, enabled, data, actor)).lastrowid
            return _require(connection, number or 0)

        return await self._database.write(work)

    async def change(
        self, number: int, version: int, *, data: str | None = None, enabled: bool | None = None
    ) -> BreakpointRow:
        """Change a breakpoint that still has this version; None leaves a value unchanged.

        Raises BreakpointNotFound, BreakpointChanged for another version, BadValue.
        """
        if data is not None:
            clean_text(data, "the breakpoint")

        def work(connection: sqlite3.Connection) -> BreakpointRow:
            row = _require_version(connection, number, version)
            values = (row.enabled if enabled is None else enabled, data or row.data, row.id)
            connection.execute(_CHANGE, values)
            return _require(connection, number)

        return await self._database.write(work)

    async def flags(self) -> list[tuple[int, str, bool]]:
        """Return the breakpoints that users switched for themselves: number, user, whether on."""
        rows = await self._database.fetch(_FLAGS)
        return [(number, user, bool(enabled)) for number, user, enabled in rows]

    async def switch(self, number: int, version: int, user: str, *, enabled: bool) -> BreakpointRow:
        """Switch a breakpoint on or off for one user, if it still has this version.

        The version doesn't change. Raises BreakpointNotFound, BreakpointChanged for another
        version, BadValue.
        """
        clean_text(user, "the user")

        def work(connection: sqlite3.Connection) -> BreakpointRow:
            row = _require_version(connection, number, version)
            connection.execute(_FLAG, (row.id, user, enabled))
            return row

        return await self._database.write(work)

    async def hit(self, number: int) -> BreakpointRow | None:
        """Count a hit, and return the row; None if the breakpoint was deleted meanwhile."""

        def work(connection: sqlite3.Connection) -> BreakpointRow | None:
            connection.execute(_HIT, (bounded(number),))
            rows = connection.execute(_GET, (bounded(number),)).fetchall()
            return _row(rows[0]) if rows else None

        return await self._database.write(work)

    async def delete(self, number: int) -> bool:
        """Delete a breakpoint, and return whether it existed."""

        def work(connection: sqlite3.Connection) -> bool:
            return connection.execute(_DELETE, (bounded(number),)).rowcount > 0

        return await self._database.write(work)


def _require(connection: sqlite3.Connection, number: int) -> BreakpointRow:
    rows = connection.execute(_GET, (bounded(number),)).fetchall()
    if not rows:
        raise BreakpointNotFound(f"there is no breakpoint {number}; it may have been deleted")
    return _row(rows[0])


def _require_version(connection: sqlite3.Connection, number: int, version: int) -> BreakpointRow:
    row = _require(connection, number)
    if row.version != version:
        raise BreakpointChanged(
            f"breakpoint {number} was changed meanwhile: it has version {row.version}, "
            f"not {version}; read it again"
        )
    return row


def _row(row: tuple[Any, ...]) -> BreakpointRow:
    number, app, version, enabled, hits, data, actor = row
    return BreakpointRow(number, app, version, bool(enabled), hits, data, actor)
