"""What runs wrote to their state before an event carried it, and who read it meanwhile.

It is written as it happens, with the id of the event that is to carry it before that is committed:
so it is known of a run that was cut off which of its writes were lost.
"""

import sqlite3
from collections.abc import Sequence

from devui.store.database import Database
from devui.store.rows import NewTouch, TouchRow
from devui.store.sessions import require_session
from devui.store.values import clean_text, optional_text

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
        """Record writes and reads, or what is newly known of them, under their numbers.

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
        """Return what one run did, in order."""
        return [TouchRow(*row) for row in await self._database.fetch(_OF_RUN, run)]

    async def of_session(self, session_key: int, limit: int) -> list[TouchRow]:
        """Return what the session's runs did, run by run."""
        rows = await self._database.fetch(_OF_SESSION, session_key, limit)
        return [TouchRow(*row) for row in rows]
