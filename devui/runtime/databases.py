"""SQLite files, each used by one job at a time over one connection that stays open.

The standard library's driver blocks, so a service passes its work to a thread. SQLite allows only
one writer at a time anyway, and an open connection keeps its page cache. A small write to a quick
disk is over before a thread would have woken, so it is done on the spot while the disk is quick.

See adk-runtime 2.5, 10.2.
"""

import asyncio
import logging
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

from devui.runtime.plain_threads import Outcome, PlainThreads

logger = logging.getLogger(__name__)

T = TypeVar("T")

MEMORY = ":memory:"
_WAITING = ("PRAGMA busy_timeout = 10000", "PRAGMA wal_autocheckpoint = 1000")
"""How many milliseconds to wait for other processes that write the same file, and how many pages
the log holds before they are moved to the file: SQLite's own default."""
_NOT_WAITING = ("PRAGMA busy_timeout = 0", "PRAGMA wal_autocheckpoint = 0")
_MOMENT = 0.001
"""How long a write may hold up a loop, in seconds."""
_TURN = 0.001
"""How long a series of jobs may keep the loop from other work, in seconds."""
_SMALL = 100_000
"""How many bytes a quick disk writes within a moment."""
_QUICK_IN_A_ROW = 8
"""How many writes must finish within a moment before one is done on the spot."""
_ON_THE_SPOT = 100
"""How many are done on the spot before a thread does one, with what SQLite put off meanwhile."""
_threads = PlainThreads(64, "devui-sqlite")
_URL_SCHEMES = ("sqlite:", "sqlite+aiosqlite:")


@dataclass(frozen=True, slots=True)
class DatabasePath:
    """The location of a database: the file name to show, and what SQLite is given."""

    name: str
    target: str
    is_uri: bool = False

    @classmethod
    def of(cls, path: str | Path) -> "DatabasePath":
        """Parse a plain path, or a URL as SQLAlchemy writes them (adk-runtime 2.5).

        `sqlite:///some.db` is relative, `sqlite:////some.db` absolute, and the part after `?` is
        passed to SQLite (`?mode=ro`). Raises ValueError for an empty path.
        """
        text = str(path).strip()
        if not text:
            raise ValueError("The path of the database is empty.")
        if not text.startswith(_URL_SCHEMES):
            return cls(text, text)
        url = urlsplit(text)
        name = unquote(url.path)[1:] or MEMORY
        if url.query:
            return cls(name, f"file:{name}?{url.query}", is_uri=True)
        return cls(name, name)


class _File(NamedTuple):
    """The identity of a file, which distinguishes it from others of the same name."""

    path: str | None
    """None if there is no file that could be deleted."""
    device: int = 0
    number: int = 0

    @classmethod
    def at(cls, name: str) -> "_File":
        """Return the file of that name, if it exists; a database in memory has none."""
        path = Path(name).absolute()  # the working directory may change
        try:
            status = path.stat()
        except OSError:
            return cls(None)
        return cls(str(path), status.st_dev, status.st_ino)

    def is_in_place(self) -> bool:
        """Return whether the path still leads to the file."""
        if self.path is None:
            return True
        try:
            status = os.stat(self.path)  # noqa: PTH116  before each job: a Path takes twice as long
        except FileNotFoundError:
            return False
        return status.st_dev == self.device and status.st_ino == self.number


class _Pace:
    """Whether recent writes to a file have been quick."""

    def __init__(self) -> None:
        self._quick = 0
        """How many of the latest writes in a row were quick."""

    def allows_the_spot(self) -> bool:
        return _QUICK_IN_A_ROW <= self._quick < _QUICK_IN_A_ROW + _ON_THE_SPOT

    def record(self, seconds: float, *, on_the_spot: bool) -> None:
        if seconds > _MOMENT:
            self._quick = 0
        elif on_the_spot:
            self._quick += 1
        else:
            self._quick = min(self._quick + 1, _QUICK_IN_A_ROW)


class _LastTurn(threading.local):
    """When other tasks last ran in this thread's loop, by `time.perf_counter`."""

    end = 0.0


_last_turn = _LastTurn()


async def give_way() -> None:
    """Let other tasks run, so that a series of jobs done on the spot doesn't block them."""
    if time.perf_counter() - _last_turn.end >= _TURN:
        await asyncio.sleep(0)
        _last_turn.end = time.perf_counter()


def _committed(
    connection: sqlite3.Connection, begin: str, job: Callable[[sqlite3.Connection], T]
) -> T:
    try:
        # Inside `try`, because on the spot a keyboard interrupt may follow immediately.
        connection.execute(begin)
        result = job(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise
    return result


_databases: "weakref.WeakSet[Database]" = weakref.WeakSet()
_registry_lock = threading.Lock()
"""Protects the set of databases; a process that forks holds it meanwhile."""


class Database:
    """One database. It is opened at its first use, and may be used after `close`.

    A file that was removed or replaced is reopened, since what is written to a file without a
    name is lost with the process. A job must not return a cursor: its statement is shared, and
    the end of the cursor, perhaps in another thread, resets the statement.
    """

    def __init__(self, path: DatabasePath, prepare: Callable[[sqlite3.Connection], None]) -> None:
        """Describe the database; `prepare` checks or creates its schema right after opening."""
        self.path = path
        self._prepare = prepare
        self._connection: sqlite3.Connection | None = None
        self._file = _File(None)
        """The file that the connection has open."""
        self._turn = threading.Lock()
        """Held by the job that uses the connection."""
        self._pace = _Pace()
        self._waits: bool | None = True
        """Whether the connection may wait for other processes and for long disk writes."""
        with _registry_lock:
            _databases.add(self)

    def __del__(self) -> None:
        """Close the file of a database that nobody closed; Python 3.13 would warn about it."""
        if self._connection is not None:
            self._connection.close()

    async def read(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """Return what `job` returns; it reads one consistent snapshot."""
        result: T = await _threads.run(partial(self._transaction, "BEGIN", job))
        await give_way()
        return result

    async def peek(self, job: Callable[[sqlite3.Connection], T]) -> T | None:
        """Return what a small job reads, such as a row or two; None if it must be run by `read`."""
        outcome = self._on_the_spot(partial(self._transaction, "BEGIN", job))
        await give_way()
        return None if outcome is None else outcome.value()

    async def write(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """Return what `job` returns, once its changes are on disk; none are made if it raises.

        A cancelled caller stops waiting; the job is still completed.
        """
        result: T = await _threads.run(partial(self._transaction, "BEGIN IMMEDIATE", job))
        await give_way()
        return result

    def begin_write(self, job: Callable[[sqlite3.Connection], Any], *, size: int) -> Outcome:
        """Like `write`, but a small job may be done on the spot, before this returns.

        It is for callers that must learn how the job ends even if they are cancelled. The outcome
        is a `Call` if a thread does the job, which may not have finished. Otherwise, the caller
        should `give_way`.

        Args:
            job: May be called twice.
            size: About how much it writes, in bytes.
        """
        write = partial(self._write, job)
        outcome = self._on_the_spot(write) if size <= _SMALL else None
        return outcome or _threads.begin(write)

    async def close(self) -> None:
        """Close the file, after any job in progress."""
        await _threads.run(self._close)

    def _on_the_spot(self, transaction: Callable[..., Any]) -> Outcome | None:
        """Run the transaction now; None if it would have to wait."""
        if not self._pace.allows_the_spot():
            return None
        outcome = Outcome(partial(transaction, waits=False))
        outcome.run()
        return None if isinstance(outcome.error, sqlite3.OperationalError) else outcome

    def _write(self, job: Callable[[sqlite3.Connection], T], *, waits: bool = True) -> T:
        began = time.perf_counter()
        result = self._transaction("BEGIN IMMEDIATE", job, waits=waits)
        self._pace.record(time.perf_counter() - began, on_the_spot=not waits)
        return result

    def _transaction(
        self, begin: str, job: Callable[[sqlite3.Connection], T], *, waits: bool = True
    ) -> T:
        """Return what the job returns; unless it `waits`, any obstacle is an OperationalError."""
        if not self._turn.acquire(blocking=waits):
            raise sqlite3.OperationalError("Another thread is using the connection.")
        try:
            connection = self._current(waits=waits)
            self._set_waits(connection, waits=waits)
            return _committed(connection, begin, job)
        except sqlite3.DatabaseError as error:
            error.add_note(f"Database file: {self.path.name}.")
            raise
        finally:
            self._turn.release()

    def _set_waits(self, connection: sqlite3.Connection, *, waits: bool) -> None:
        if waits is not self._waits:
            self._waits = None  # an interrupt may come between the settings
            for setting in _WAITING if waits else _NOT_WAITING:
                connection.execute(setting)
            self._waits = waits

    def _current(self, *, waits: bool) -> sqlite3.Connection:
        if self._connection is not None and self._file.is_in_place():
            return self._connection
        if not waits:
            raise sqlite3.OperationalError("The file must be opened first.")
        if self._connection is not None:
            self._leave(self._connection)
        connection = self._open()
        self._waits, self._file = True, _File.at(self.path.name)
        self._connection = connection
        return connection

    def _leave(self, connection: sqlite3.Connection) -> None:
        """Close the connection to a file that is no longer at its path."""
        logger.warning("%s was removed or replaced; opening it again.", self.path.name)
        # The log at the path belongs to the file that is gone. SQLite would apply its contents to
        # the new file.
        self._set_waits(connection, waits=True)
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        self._connection = None

    def _open(self) -> sqlite3.Connection:
        connection = self._connected()
        try:
            connection.row_factory = sqlite3.Row
            for setting in _WAITING:
                connection.execute(setting)
            connection.execute("PRAGMA foreign_keys = ON")
            self._prepare(connection)
            with suppress(sqlite3.OperationalError):  # a file opened read-only keeps its mode
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        except BaseException as error:
            connection.close()
            if type(error) is sqlite3.DatabaseError:
                raise RuntimeError(
                    f"{self.path.name} is not a SQLite database, or is damaged: {error}. It was"
                    " left unchanged; use another file name."
                ) from error
            raise
        return connection

    def _connected(self) -> sqlite3.Connection:
        try:
            return sqlite3.connect(
                self.path.target,
                uri=self.path.is_uri,
                isolation_level=None,  # transactions are begun explicitly, above
                check_same_thread=False,  # each job may run in another
            )
        except sqlite3.OperationalError as error:
            error.add_note("Create its folder first, and make it writable.")
            raise

    def _close(self) -> None:
        with self._turn:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def stand_still(self) -> None:
        """Close the file, and let no job begin until `go_on`, because the process is about to fork.

        What SQLite knows of an open file and its locks is wrong in the child: its writes could be
        lost when the parent closes the file, or wait forever.
        """
        self._turn.acquire()
        if self._connection is not None and self._file.path is not None:
            self._connection.close()
            self._connection = None

    def go_on(self) -> None:
        """Let jobs begin again, in the parent or the child; the first one reopens the file."""
        self._turn.release()


def _before_fork() -> None:
    _registry_lock.acquire()
    for database in _databases:
        database.stand_still()


def _after_fork() -> None:
    for database in _databases:
        database.go_on()
    _registry_lock.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


def tables(connection: sqlite3.Connection) -> set[str]:
    """Return the names of a database's tables."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {row[0] for row in rows}
