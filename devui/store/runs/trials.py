"""Trials: calls of tools and models outside any run, which are never part of a history."""

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
    """A trial of a tool or model. Payloads are JSON texts."""

    id: int
    app: str
    session: int | None
    span: int | None
    """The id of the recorded model call that it repeats; None for a tool."""
    event: int | None
    """The number of the event as of which the tool saw the state."""
    agent: str
    name: str
    """The name of the tool or model."""
    sent: str
    """The arguments, or the request."""
    actor: str
    result: str | None = None
    """A tool's `{"result", "actions"}`, or a list of a model's responses."""
    error: str | None = None
    seconds: float = 0.0
    at: float = 0.0


class Trials:
    """The trials of each session. Trials outside a session aren't stored."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def add(self, trial: TrialRow) -> TrialRow:
        """Store a trial, and return it with its id and time. Raises BadValue."""
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
        """Return a session's trials, newest first: all, or those of one model call."""
        rows = await self._database.fetch(_LIST, session, span, max(limit, 0))
        return [TrialRow(*row) for row in rows]
