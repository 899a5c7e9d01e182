"""Messages that wait for the end of a session's run; the oldest is sent first.

A message leaves the queue in the same transaction that starts its run (`Runs.start`), so it can't
be lost in between.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from devui.store.errors import NotQueued
from devui.store.sessions import require_session, require_writable
from devui.store.sqlite.database import Database
from devui.store.values import clean_text

_ADD = "INSERT INTO queued (session, message, options, actor, at) VALUES (?, ?, ?, ?, ?)"
_GET: Final = "SELECT * FROM queued_rows WHERE session = ? AND id = ?"
_LIST = "SELECT * FROM queued_rows WHERE session = ? ORDER BY id"
_CHANGE = "UPDATE queued SET message = ? WHERE session = ? AND id = ?"
_REMOVE = "DELETE FROM queued WHERE session = ? AND id = ?"


@dataclass(frozen=True, slots=True)
class QueuedRow:
    """A message in the queue."""

    id: int
    session: int
    message: str
    """The user's Content as JSON text."""
    options: str
    """The options of its run, as JSON text."""
    actor: str
    at: float


class QueuedMessages:
    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def add(self, session: int, message: str, options: str, *, actor: str) -> QueuedRow:
        """Append a message to the queue.

        Raises SessionNotFound, ReadOnly for an imported session, BadValue.
        """
        for text in (message, options, actor):
            clean_text(text, "the queued message")
        row = QueuedRow(0, session, message, options, actor, self._clock())

        def work(connection: sqlite3.Connection) -> QueuedRow:
            require_session(connection, session)
            require_writable(connection, session)
            values = (session, message, options, actor, row.at)
            number = connection.execute(_ADD, values).lastrowid or 0
            return QueuedRow(number, *values)

        return await self._database.write(work)

    async def list(self, session: int) -> list[QueuedRow]:
        """Return the session's queue, in the order of sending."""
        return [QueuedRow(*row) for row in await self._database.find(_LIST, session)]

    async def get(self, session: int, number: int) -> QueuedRow:
        """Return one message. Raises NotQueued."""
        rows = await self._database.find(_GET, session, number)
        if not rows:
            raise _not_queued()
        return QueuedRow(*rows[0])

    async def change(self, session: int, number: int, message: str) -> None:
        """Replace a message. Raises NotQueued, BadValue."""
        clean_text(message, "the queued message")

        def work(connection: sqlite3.Connection) -> None:
            if not connection.execute(_CHANGE, (message, session, number)).rowcount:
                raise _not_queued()

        await self._database.write(work)

    async def remove(self, session: int, number: int) -> None:
        """Remove a message without sending it. Raises NotQueued."""

        def work(connection: sqlite3.Connection) -> None:
            take(connection, session, number)

        await self._database.write(work)


def take(connection: sqlite3.Connection, session: int, number: int) -> None:
    """Remove a message from the queue; for use inside a job. Raises NotQueued."""
    if not connection.execute(_REMOVE, (session, number)).rowcount:
        raise _not_queued()


def _not_queued() -> NotQueued:
    return NotQueued("this message isn't in the queue any more: it was sent or removed")
