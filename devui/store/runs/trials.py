"""Calls of tools and models that somebody tried by themselves, beside all histories."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace

from devui.store.sqlite.database import Database
from devui.store.values import clean_text

_ADD = """
    INSERT INTO trials
        (app, session, span, event, agent, name, sent, result, error, seconds, actor, at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_LIST = """
    SELECT * FROM trial_rows WHERE session = ?1 AND (?2 IS NULL OR span = ?2)
    ORDER BY id DESC LIMIT ?3
"""


@dataclass(frozen=True, slots=True)
class TrialRow:
    """A call of a tool or a model that was tried by itself; JSON where nothing else is said."""

    id: int
    app: str
    session: int | None
    span: int | None
    """The recorded model call that it repeats; None for a tool's."""
    event: int | None
    """The number of the event whose state the tool found."""
    agent: str
    name: str
    """Of the tool, or of the model; plain text."""
    sent: str
    """Arguments, or the request."""
    actor: str
    result: str | None = None
    """`{"result", "actions"}` of a tool, a list of responses of a model."""
    error: str | None = None
    seconds: float = 0.0
    at: float = 0.0


class Trials:
    """Kept with their session; trials without one are told and not kept."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def add(self, trial: TrialRow) -> TrialRow:
        """Keep one and return it with its number and time. Raises BadValue."""
        row = replace(trial, at=self._clock())
        texts = (row.app, row.agent, row.name, row.sent, row.actor)
        for text in (*texts, row.result or "", row.error or ""):
            clean_text(text, "the trial")
        place = (row.app, row.session, row.span, row.event, row.agent, row.name)
        outcome = (row.sent, row.result, row.error, row.seconds, row.actor, row.at)

        def work(connection: sqlite3.Connection) -> int:
            return connection.execute(_ADD, (*place, *outcome)).lastrowid or 0

        return replace(row, id=await self._database.write(work))

    async def list(
        self, session: int, *, span: int | None = None, limit: int = 50
    ) -> list[TrialRow]:
        """Return a session's trials, the newest first: of one model call, or all."""
        rows = await self._database.fetch(_LIST, session, span, max(limit, 0))
        return [TrialRow(*row) for row in rows]
