"""An SQLite connection with its own thread; small jobs may run on the caller's thread instead while
the disk is fast (docs/decisions/0029)."""

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import aiosqlite

from devui.store.errors import from_sqlite, is_undecodable
from devui.store.sqlite.schema import read_only
from devui.store.values import bounded, legible

T = TypeVar("T")

Work = Callable[[sqlite3.Connection], T]
"""The function of a job. It may run twice, so it must not change anything but the connection."""

WAIT = "PRAGMA busy_timeout = 5000"
# In pages of 4 KiB, four times SQLite's default: one append in a thousand pays for a checkpoint.
CHECKPOINTS = "PRAGMA wal_autocheckpoint = 4000"
_NOT_WAITING = ("PRAGMA busy_timeout = 0", "PRAGMA wal_autocheckpoint = 0")

SMALL: Final = 100_000
"""How many bytes a fast disk can write within `_MOMENT`."""
_MOMENT: Final = 0.002
"""How long a change may block the event loop, in seconds."""
_QUICK_IN_A_ROW: Final = 8
"""How many consecutive changes must finish within `_MOMENT` before one runs on the event loop."""
_ON_THE_LOOP: Final = 100
"""How many changes run on the event loop before one runs on the thread, which also makes up for
SQLite's deferred checkpoint."""
_FETCH_SIZE = 64
"""aiosqlite's batch size for iterating over cursors, which we never do."""


class Connection(aiosqlite.Connection):
    """An aiosqlite connection that can also run whole functions on its thread."""

    def __init__(
        self, path: Path, factory: type[sqlite3.Connection], *, reads_only: bool = False
    ) -> None:
        super().__init__(_opener(path, factory, reads_only=reads_only), _FETCH_SIZE)
        self._path = path
        self._waits = True
        # A journal that was never closed must not keep the interpreter alive (R40): what is
        # committed is safe, and an unfinished transaction rolls back as after a crash.
        self._thread.daemon = True

    async def call(self, work: Work[T]) -> T:
        """Run the function on the connection's thread; cancelling the caller doesn't stop it."""
        # aiosqlite has no public way to run several statements without an await in between.
        execute = cast("Callable[..., Any]", self._execute)
        # Its thread keeps a reference to its last function and result until the next call, which
        # would keep the texts written or the rows read in memory.
        exchange: list[Any] = [work]
        await execute(_put_result, self._conn, exchange)
        return cast("T", exchange.pop())

    def call_at_once(self, work: Work[T]) -> T:
        """Run the function on the caller's thread, while nobody else uses the connection.

        Raises `sqlite3.OperationalError` instead of waiting for another process.
        """
        connection = self._conn
        self._set_waits(connection, waits=False)
        return work(connection)

    async def call_patiently(self, work: Work[T]) -> T:
        """Run the function like `call`, waiting for other processes, unlike `call_at_once`."""

        def run(connection: sqlite3.Connection) -> T:
            self._set_waits(connection, waits=True)
            return work(connection)

        return await self.call(run)

    def _set_waits(self, connection: sqlite3.Connection, *, waits: bool) -> None:
        if waits is not self._waits:
            for setting in (WAIT, CHECKPOINTS) if waits else _NOT_WAITING:
                connection.execute(setting)
            self._waits = waits

    async def fetch(self, sql: str, parameters: Sequence[object]) -> list[Any]:
        """Return all rows of a query, as tuples.

        Clamps integer parameters to SQLite's range. Returns text that isn't valid UTF-8 as
        `Damaged`. Raises JournalError.
        """
        values = [bounded(value) for value in parameters]
        try:
            return await self.call(partial(_fetch, sql=sql, values=values))
        except sqlite3.Error as error:
            if not is_undecodable(error):
                raise from_sqlite(error, str(self._path)) from error
        try:
            return await self.call(partial(_fetch_damaged, sql=sql, values=values))
        except sqlite3.Error as error:
            raise from_sqlite(error, str(self._path)) from error


def _opener(
    path: Path, factory: type[sqlite3.Connection], *, reads_only: bool
) -> Callable[[], sqlite3.Connection]:
    if reads_only:
        return partial(read_only, path, factory, is_ours=True)
    # The event loop's thread also uses it, while the connection's own thread is idle.
    return partial(
        sqlite3.connect, path, isolation_level=None, factory=factory, check_same_thread=False
    )


def _put_result(connection: sqlite3.Connection, exchange: list[Any]) -> None:
    """Replace the function in the list with its result."""
    exchange.append(exchange.pop()(connection))


def _fetch(connection: sqlite3.Connection, sql: str, values: list[object]) -> list[Any]:
    return connection.execute(sql, values).fetchall()


def _fetch_damaged(connection: sqlite3.Connection, sql: str, values: list[object]) -> list[Any]:
    """Fetch rows with text that can't be decoded; too slow to use for all rows."""
    connection.text_factory = legible
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.text_factory = str


class Pace:
    """Tracks how fast recent changes were, to decide whether the next may run on the event loop."""

    def __init__(self) -> None:
        self._quick = 0
        """The number of consecutive fast changes."""

    def allows_the_loop(self) -> bool:
        return _QUICK_IN_A_ROW <= self._quick < _QUICK_IN_A_ROW + _ON_THE_LOOP

    def record(self, seconds: float, *, on_the_loop: bool) -> None:
        if seconds > _MOMENT:
            self._quick = 0
        elif on_the_loop:
            self._quick += 1
        else:
            self._quick = min(self._quick + 1, _QUICK_IN_A_ROW)
