"""A connection to SQLite with a thread of its own, which a small job may use on the caller's while
the disk is quick (docs/decisions/0029)."""

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
"""A job's body. It may run twice, so it touches nothing but the connection."""

WAIT = "PRAGMA busy_timeout = 5000"
# Pages of 4 KiB. Four times SQLite's default: an append in a thousand pays for a checkpoint.
CHECKPOINTS = "PRAGMA wal_autocheckpoint = 4000"
_NOT_WAITING = ("PRAGMA busy_timeout = 0", "PRAGMA wal_autocheckpoint = 0")

SMALL: Final = 100_000
"""Bytes that a quick disk writes within a moment."""
_MOMENT: Final = 0.002
"""Seconds for which a change may hold up the loop."""
_QUICK_IN_A_ROW: Final = 8
"""How many changes have to be over within a moment before one is made on the loop's thread."""
_ON_THE_LOOP: Final = 100
"""How many are, before a thread makes one, which also does what SQLite put off meanwhile."""
_FETCH_SIZE = 64
"""aiosqlite's batch for cursors that are iterated; ours fetch whole results."""


class Connection(aiosqlite.Connection):
    """An aiosqlite connection that also runs whole functions on its thread."""

    def __init__(
        self, path: Path, factory: type[sqlite3.Connection], *, reads_only: bool = False
    ) -> None:
        super().__init__(_opener(path, factory, reads_only=reads_only), _FETCH_SIZE)
        self._path = path
        self._waits = True
        # A journal that nobody closed must not keep the interpreter from ending (R40): what is
        # committed is safe, and an unfinished transaction rolls back as after a crash.
        self._thread.daemon = True

    async def call(self, work: Work[T]) -> T:
        """Run the function on the connection's thread; it finishes even if the caller does not."""
        # aiosqlite has no public way to run more than one statement without an await in between.
        execute = cast("Callable[..., Any]", self._execute)
        # Its thread holds its last function and result until the next ones come: neither the texts
        # that were written nor the rows that were read may live that long.
        exchange: list[Any] = [work]
        await execute(_put_result, self._conn, exchange)
        return cast("T", exchange.pop())

    def call_at_once(self, work: Work[T]) -> T:
        """Run the function here, while nobody else uses the connection.

        What would have to wait for another process is an `sqlite3.OperationalError`.
        """
        connection = self._conn
        self._set_waits(connection, waits=False)
        return work(connection)

    async def call_patiently(self, work: Work[T]) -> T:
        """As `call`, after functions that ran at once."""

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
        """Return all rows of one reading statement, as tuples; raises JournalError.

        Integers are brought into SQLite's range. A text that is no UTF-8 any more is a `Damaged`.
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
    # The loop's thread uses it, too, while its own thread has nothing to do.
    return partial(
        sqlite3.connect, path, isolation_level=None, factory=factory, check_same_thread=False
    )


def _put_result(connection: sqlite3.Connection, exchange: list[Any]) -> None:
    """Take the function out of the list, and leave its result there."""
    exchange.append(exchange.pop()(connection))


def _fetch(connection: sqlite3.Connection, sql: str, values: list[object]) -> list[Any]:
    return connection.execute(sql, values).fetchall()


def _fetch_damaged(connection: sqlite3.Connection, sql: str, values: list[object]) -> list[Any]:
    """Fetch rows some text of which cannot be decoded: too slow to be the way of all rows."""
    connection.text_factory = legible
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.text_factory = str


class Pace:
    """How quick the last changes were, and so whether the next may be made on the loop's thread."""

    def __init__(self) -> None:
        self._quick = 0
        """How many were, one after the other."""

    def allows_the_loop(self) -> bool:
        return _QUICK_IN_A_ROW <= self._quick < _QUICK_IN_A_ROW + _ON_THE_LOOP

    def took(self, seconds: float, *, on_the_loop: bool) -> None:
        if seconds > _MOMENT:
            self._quick = 0
        elif on_the_loop:
            self._quick += 1
        else:
            self._quick = min(self._quick + 1, _QUICK_IN_A_ROW)
