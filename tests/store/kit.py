"""Helpers for the store's tests: events, and SQLite connections that fail on demand."""

import asyncio
import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import Phase

from devui.store.journal import Journal
from devui.store.rows import NewEvent

SEARCH: dict[str, Any] = {
    "derandomize": True,
    "database": None,
    "phases": [Phase.generate],
    "report_multiple_bugs": False,
}
"""Settings to find a planted bug: deterministic, without shrinking or a database of examples."""

MEMORY_DISK = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""A folder in memory, for tests that don't need files to survive a crash; None if there is none."""


def new_event(
    event_id: str = "e1",
    *,
    timestamp: float = 1.0,
    kind: str = "text",
    text: str = "hello",
    **delta: Any,
) -> NewEvent:
    """Return an event with its id and text as data; keyword arguments are its state delta."""
    return event_with(delta, event_id, timestamp=timestamp, kind=kind, text=text)


def event_with(
    delta: dict[str, Any],
    event_id: str = "e1",
    *,
    timestamp: float = 1.0,
    kind: str = "text",
    text: str = "hello",
) -> NewEvent:
    return NewEvent(
        id=event_id,
        invocation_id="i1",
        author="agent",
        branch=None,
        timestamp=timestamp,
        kind=kind,
        final=False,
        summary_json="{}",
        data=json.dumps({"id": event_id, "text": text}, ensure_ascii=False),
        state_delta=delta,
    )


async def append_many(journal: Journal, session: int, count: int, **delta: Any) -> None:
    """Append the events e1 to en concurrently."""
    await asyncio.gather(
        *(
            journal.events.append(session, new_event(f"e{n}", timestamp=float(n), **delta), None)
            for n in range(1, count + 1)
        )
    )


def error_of(code: int) -> sqlite3.OperationalError:
    """Return an error with a result code, as SQLite raises it."""
    error = sqlite3.OperationalError("injected")
    error.sqlite_errorcode = code
    return error


class FaultyConnection(sqlite3.Connection):
    """Fails the n-th statement after `arm`, before or after executing it."""

    count: ClassVar[int] = 0
    fail_at: ClassVar[int] = 0
    afterwards: ClassVar[bool] = False
    code: ClassVar[int] = sqlite3.SQLITE_IOERR

    @classmethod
    def arm(cls, fail_at: int, *, afterwards: bool, code: int = sqlite3.SQLITE_IOERR) -> None:
        cls.count, cls.fail_at, cls.afterwards, cls.code = 0, fail_at, afterwards, code

    @classmethod
    def disarm(cls) -> bool:
        """Cancel the fault, and return whether it occurred."""
        happened = 0 < cls.fail_at <= cls.count
        cls.fail_at = 0
        return happened

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        failing = self._is_due()
        if failing and not self.afterwards:
            raise error_of(self.code)
        cursor = super().execute(sql, parameters)
        if failing:
            cursor.fetchall()
            raise error_of(self.code)
        return cursor

    def executemany(self, sql: str, parameters: Iterable[Any]) -> sqlite3.Cursor:
        failing = self._is_due()
        if failing and not self.afterwards:
            raise error_of(self.code)
        cursor = super().executemany(sql, parameters)
        if failing:
            raise error_of(self.code)
        return cursor

    def _is_due(self) -> bool:
        type(self).count += 1
        return self.count == self.fail_at


class SmallConnection(sqlite3.Connection):
    """A database on a disk with room for `pages` pages."""

    pages: ClassVar[int] = 1_000_000

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        if sql.startswith("BEGIN"):
            super().execute(f"PRAGMA max_page_count = {self.pages}")
        return super().execute(sql, parameters)


class ImpatientConnection(sqlite3.Connection):
    """Waits for a lock for 50 milliseconds instead of five seconds."""

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        return super().execute(sql.replace("busy_timeout = 5000", "busy_timeout = 50"), parameters)


class ListeningConnection(sqlite3.Connection):
    """Records every statement, and counts the steps of SQLite's virtual machine in tens."""

    statements: ClassVar[list[str]] = []
    steps: ClassVar[int] = 0

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        super().set_progress_handler(self._step, 10)

    def set_progress_handler(self, *_: object) -> None:
        """Do nothing: a connection has only one handler, and here it counts the steps."""

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        self.statements.append(sql)
        return super().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Any]) -> sqlite3.Cursor:
        self.statements.append(sql)
        return super().executemany(sql, parameters)

    def _step(self) -> int:
        type(self).steps += 1
        return 0
