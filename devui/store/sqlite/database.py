"""The connections to the journal's file: one writer and two readers.

A change is a job: a function that takes the writing connection and runs in one go inside a
transaction, on aiosqlite's thread or, if it is small and the disk is fast, on the event loop's. One
task owns the writing connection. It takes all waiting jobs, gives each a savepoint, commits them
together (group commit), and only then reports back to the callers. A cancelled caller stops
waiting, but its job, once accepted, is carried out in full (R40). The queue is bounded: when it is
full, callers wait for room.

Reads use the other connections and see everything committed before they began. Lookups by key run
on the event loop's thread, since a round trip to another thread takes ten times as long.
"""

import asyncio
import logging
import sqlite3
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar, cast

from devui.store.errors import (
    PASSING,
    JournalClosed,
    JournalError,
    JournalFailed,
    JournalLogGone,
    StoreError,
    from_sqlite,
    primary_code,
)
from devui.store.sqlite.connection import CHECKPOINTS, SMALL, WAIT, Connection, Pace, Work
from devui.store.sqlite.finder import Finder
from devui.store.sqlite.folder import Files, require_writable
from devui.store.sqlite.schema import OldVersion, check, mark, require, rolled_back
from devui.store.values import bounded, legible

T = TypeVar("T")

_DISK_ERRORS = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


class DeferredWrite(NamedTuple):
    """A change that must be made eventually, even if the journal refuses it at first."""

    work: Work[Any]
    """Idempotent."""
    outcome: Any
    """What readers see instead while the journal refuses the change."""
    refused: bool = False


class Outcome(NamedTuple):
    """The result of a job: its value or its error."""

    value: Any
    error: Exception | None

    @property
    def is_disk_error(self) -> bool:
        """Whether the disk has failed or may have failed.

        Includes reports of a malformed file: SQLite turns a failed read (EIO) into one
        (SQLITE_IOERR_CORRUPTFS).
        """
        error = self.error
        return isinstance(error, sqlite3.Error) and primary_code(error) in _DISK_ERRORS


class _TransactionLost(Exception):
    """SQLite rolled back the whole transaction while a job ran."""


def run_batch(connection: sqlite3.Connection, works: Sequence[Work[Any]]) -> list[Outcome]:
    """Commit all jobs in one transaction; if one aborts it, commit each job separately."""
    try:
        return _run_together(connection, works)
    except _TransactionLost as error:
        if len(works) == 1:
            return [Outcome(None, cast("Exception", error.__cause__))]
        return [outcome for work in works for outcome in run_batch(connection, [work])]


def _run_together(connection: sqlite3.Connection, works: Sequence[Work[Any]]) -> list[Outcome]:
    with rolled_back(connection):
        connection.execute("BEGIN IMMEDIATE")
        outcomes = [_run_one(connection, work) for work in works]
        connection.execute("COMMIT")
    return outcomes


def _run_one(connection: sqlite3.Connection, work: Work[Any]) -> Outcome:
    connection.execute("SAVEPOINT job")
    try:
        outcome = Outcome(work(connection), None)
    except Exception as error:  # for the job's caller; the rest of the batch is unaffected
        if not connection.in_transaction:
            raise _TransactionLost from error
        connection.execute("ROLLBACK TO job")
        outcome = Outcome(None, error)
    connection.execute("RELEASE job")
    return outcome


_LOG = logging.getLogger(__name__)

_FINDS = 16
"""Calls of `find` between two yields to the event loop."""

_QUEUE_LIMIT = 256
"""The maximum number of jobs accepted but not yet committed; further callers wait."""

_SETTINGS = (
    WAIT,
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA mmap_size = 0",
)
_WRITER_SETTINGS = (
    *_SETTINGS,
    "PRAGMA fullfsync = ON",  # macOS: fsync alone does not reach the platter there
    "PRAGMA checkpoint_fullfsync = ON",
    "PRAGMA foreign_keys = ON",
    CHECKPOINTS,
    "PRAGMA journal_size_limit = 67108864",
)
_READER_SETTINGS = (*_SETTINGS, "PRAGMA query_only = ON")
_FINDER_SETTINGS = (*_READER_SETTINGS, "PRAGMA busy_timeout = 0")
_FIRST_READ = "PRAGMA schema_version"
"""Makes SQLite open the log now, since another file's log may be in its place later (R42)."""


class Job(NamedTuple):
    work: Work[Any]
    outcome: asyncio.Future[Any]
    size: int | None


class Database:
    """The journal's file with its connections: a writer, a reader and a finder for short reads."""

    def __init__(self, path: Path, factory: type[sqlite3.Connection]) -> None:
        self._path = path
        self._factory = factory
        self._waiting: deque[Job] = deque()
        self._wake = asyncio.Event()
        self._room = asyncio.Semaphore(_QUEUE_LIMIT)
        self._closing = False
        self._closed = False
        self._suspect = False
        self._files = Files(path)
        self._pace = Pace()
        self._waited_for = 0
        self.deferred_writes: dict[str, DeferredWrite] = {}
        """Changes that are tried before all others until they succeed, by their subject's id."""
        self.trouble: JournalError | None = None
        """Why changes are currently refused; None if they are accepted, as far as is known."""
        self.on_trouble: Callable[[JournalError | None], None] | None = None
        """Called on the event loop when `trouble` changes."""
        self._writer: Connection | None = None
        """None while the file can only be read."""
        self._reader: Connection
        self._finder: Finder | None = None
        """None while the file can only be read, or if opening this connection failed."""
        self._finds = 0
        self._task: asyncio.Task[None]

    @classmethod
    async def open(
        cls,
        path: Path,
        prepare: Callable[[sqlite3.Connection, Path], None],
        factory: type[sqlite3.Connection] = sqlite3.Connection,
        *,
        newest: int,
    ) -> Self:
        """Open the connections, after running `prepare` (migrations) on the writing one.

        A file of version `newest` that can't be written at present is opened read-only, with
        `trouble` set, until it can be (R42). `factory` is the SQLite connection class; tests pass
        one that fails.
        """
        self = cls(path, factory)
        ready = partial(_configure_writer, path=path, prepare=prepare)
        try:
            require_writable(path)
            async with AsyncExitStack() as undo:
                self._writer = await self._connect(ready)
                undo.push_async_callback(self._writer.close)
                self._reader = await self._connect(_configure_reader)
                undo.pop_all()
        except sqlite3.Error as error:
            trouble = from_sqlite(error, str(path))
            trouble.__cause__ = error
            await self._open_to_read(trouble, newest)
        except JournalFailed as trouble:
            await self._open_to_read(trouble, newest)
        self._open_finder()
        self._files.remember()
        self._task = asyncio.create_task(self._write_all(), name=f"journal writer {path}")
        return self

    async def _open_to_read(self, trouble: JournalError, newest: int) -> None:
        """Open only the reading connection; raises `trouble` if that doesn't work either."""
        self._writer = None
        if not isinstance(trouble, PASSING):
            raise trouble
        try:
            ready = partial(_configure_old_reader, newest=newest)
            self._reader = await self._connect(ready, reads_only=True)
        except sqlite3.Error:
            raise trouble from None
        except OldVersion as old:
            raise type(trouble)(f"{trouble}. {old}") from None
        self.trouble = trouble
        _LOG.warning("%s is opened to be read only: %s", self._path, trouble)

    async def write(self, work: Work[T], *, size: int | None = None) -> T:
        """Run the job in a transaction and return its result once it is on disk.

        `size` is the approximate number of bytes of text it writes; jobs of unknown size may take
        long and always run on the connection's thread. Raises JournalError, or the job's own
        exception after undoing all its changes.
        """
        await self._room.acquire()
        if self._closing:
            self._room.release()
            raise JournalClosed(f"the journal {str(self._path)!r} is closed")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        future.add_done_callback(lambda _: self._room.release())
        self._waiting.append(Job(work, future, size))
        self._wake.set()
        # Shielded, so that cancelling the caller neither cancels its job nor frees its queue slot.
        return await asyncio.shield(future)

    @contextmanager
    def waited_for(self) -> Iterator[None]:
        """Keep `trouble` set while the caller retries a refused change.

        Otherwise the success of smaller changes, as on an almost full disk, would clear it.
        """
        self._waited_for += 1
        try:
            yield
        finally:
            self._waited_for -= 1

    async def fetch(self, sql: str, *parameters: object) -> list[Any]:
        """Return all rows of a query, as tuples."""
        if self._closing:
            raise JournalClosed(f"the journal {str(self._path)!r} is closed")
        return await self._reader.fetch(sql, parameters)

    async def find(self, sql: str, *parameters: object) -> list[Any]:
        """Run a query like `fetch`, but on the event loop's thread: for a few short rows found by
        index.

        Falls back to the reading connection's thread for larger results.
        """
        self._finds += 1
        if self._finds % _FINDS == 0:
            await asyncio.sleep(0)
        if self._closing:
            raise JournalClosed(f"the journal {str(self._path)!r} is closed")
        if self._finder is not None:
            rows = self._finder.rows(sql, [bounded(value) for value in parameters])
            if rows is not None:
                return rows
        return await self._reader.fetch(sql, parameters)

    def snapshot(self) -> AbstractAsyncContextManager["Snapshot"]:
        """Return a context manager for a view of what is committed now.

        Others can keep writing (R45).
        """
        return self._snapshot()

    @asynccontextmanager
    async def _snapshot(self) -> AsyncIterator["Snapshot"]:
        self._files.check()  # SQLite would create a missing file, empty
        try:
            connection = await self._connect(_configure_snapshot, reads_only=not self._writer)
        except sqlite3.Error as error:
            raise from_sqlite(error, str(self._path)) from error
        try:
            yield Snapshot(connection, self._path)
        finally:
            await connection.close()

    async def close(self) -> None:
        """Finish the accepted jobs, then close the connections. Further calls do nothing."""
        if self._closed:
            return
        self._closed = self._closing = True
        self._wake.set()
        await asyncio.wait([self._task])
        if self._finder is not None:
            self._finder.close()
        await self._reader.close()
        if self._writer is not None:
            await self._writer.close()  # last, so that SQLite folds the WAL into the file

    async def _connect(self, configure: Work[None], *, reads_only: bool = False) -> Connection:
        async with AsyncExitStack() as undo:
            connection = Connection(self._path, self._factory, reads_only=reads_only)
            await undo.enter_async_context(connection)
            await connection.call(configure)
            undo.pop_all()
        return connection

    def _open_finder(self) -> None:
        if self._writer is not None and self._finder is None:
            settings = (*_FINDER_SETTINGS, _FIRST_READ)
            self._finder = Finder.open(self._path, self._factory, settings)

    async def _write_all(self) -> None:
        try:
            while self._waiting or not self._closing:
                await self._wake.wait()
                self._wake.clear()
                await self._write_waiting()
        finally:
            self._closing = True
            _settle_all(self._waiting, JournalClosed(f"the journal {str(self._path)!r} is closed"))

    async def _write_waiting(self) -> None:
        while self._waiting:
            batch = list(self._waiting)
            self._waiting.clear()
            try:
                outcomes = await self._commit([job.work for job in batch], _size(batch))
                for job, outcome in zip(batch, outcomes, strict=True):
                    _settle(job, outcome)
            finally:
                # Jobs left without an outcome: the loop is ending and has cancelled the writer.
                _settle_all(batch, JournalClosed("the writer was stopped; the outcome is unknown"))

    async def _commit(self, works: Sequence[Work[Any]], size: int | None) -> list[Outcome]:
        deferred = dict(self.deferred_writes)
        works = [*(each.work for each in deferred.values()), *works]
        try:
            self._files.check()
            writer = self._writer
            if writer is None or self._suspect:
                writer = await self._reopen()
            outcomes = await self._run(writer, works, size)
        except (sqlite3.Error, JournalError, MemoryError) as error:
            outcomes = [Outcome(None, error)] * len(works)
            if isinstance(error, JournalLogGone):
                await self._save_log()
        self._suspect = self._suspect or any(outcome.is_disk_error for outcome in outcomes)
        results = [outcome._replace(error=self._translate(outcome.error)) for outcome in outcomes]
        self._note([outcome.error for outcome in results])
        for name, outcome in zip(deferred, results, strict=False):
            if outcome.error is None or _is_final(outcome.error):
                self.deferred_writes.pop(name, None)
        return results[len(deferred) :]

    async def _run(
        self, writer: Connection, works: Sequence[Work[Any]], size: int | None
    ) -> list[Outcome]:
        """Run the jobs on the event loop's thread if they are small and the disk is fast, otherwise
        on the connection's thread, where they can wait and be retried (docs/decisions/0029)."""
        if size is not None and size <= SMALL and self._pace.allows_the_loop():
            try:
                outcomes, seconds = writer.call_at_once(partial(_timed, _run_together, works))
            except _TransactionLost:
                pass  # nothing is committed: run them on the thread, one by one if necessary
            except sqlite3.OperationalError as error:
                if primary_code(error) != sqlite3.SQLITE_BUSY:
                    raise
                # Another process is writing, as a backup does: wait for it on the thread.
            else:
                self._pace.record(seconds, on_the_loop=True)
                return outcomes
        outcomes, seconds = await writer.call_patiently(partial(_timed, run_batch, works))
        self._pace.record(seconds, on_the_loop=False)
        return outcomes

    async def _save_log(self) -> None:
        """Move the log's contents into the journal while it can still be read.

        A deleted file exists for as long as it is open.
        """
        if self._writer is not None:
            with suppress(sqlite3.Error):  # the next try, or closing the journal, will do it
                await self._writer.call(_checkpoint)

    def _note(self, errors: list[Exception | None]) -> None:
        """Update `trouble`; errors that only concern one job don't count."""
        trouble = next((error for error in errors if isinstance(error, PASSING)), None)
        has_changed = type(trouble) is not type(self.trouble)
        over = None in errors and not self._waited_for
        if has_changed and (trouble is not None or over):
            self.trouble = trouble
            if self.on_trouble is not None:
                self.on_trouble(trouble)

    async def _reopen(self) -> Connection:
        """Replace the writing connection and check the file.

        A connection that has seen the disk fail isn't trusted (R42).
        """
        require_writable(self._path)
        _LOG.warning("reopening %s after an I/O error", self._path)
        ready = partial(_configure_writer, path=self._path, prepare=check)
        fresh = await self._connect(ready)
        stale, self._writer = self._writer, fresh
        if stale is None:  # a read-only reader may not see what is written from now on
            stale, self._reader = self._reader, await self._connect(_configure_reader)
        self._suspect = False
        await stale.close()
        self._open_finder()
        self._files.remember()
        return fresh

    def _translate(self, error: Exception | None) -> Exception | None:
        if isinstance(error, sqlite3.Error):
            translated = from_sqlite(error, str(self._path))
            translated.__cause__ = error
            return translated
        return error


def _size(jobs: Sequence[Job]) -> int | None:
    """Return the total size of the jobs; None if any of them is unknown."""
    total = 0
    for job in jobs:
        if job.size is None:
            return None
        total += job.size
    return total


def _timed(
    run: Callable[[sqlite3.Connection, Sequence[Work[Any]]], list[Outcome]],
    works: Sequence[Work[Any]],
    connection: sqlite3.Connection,
) -> tuple[list[Outcome], float]:
    start = time.perf_counter()
    return run(connection, works), time.perf_counter() - start


def _is_final(error: Exception) -> bool:
    """Whether the error refuses a change for good, for instance because its subject is gone."""
    return isinstance(error, StoreError) and not isinstance(error, JournalError)


class Snapshot:
    """The journal as it was at one moment."""

    def __init__(self, connection: Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    async def fetch(self, sql: str, *parameters: object) -> list[Any]:
        """Return all rows of a query, as tuples."""
        return await self._connection.fetch(sql, parameters)


def advance(connection: sqlite3.Connection) -> int:
    """Increment the journal's counter and return the new seq."""
    [(seq,)] = connection.execute("UPDATE journal SET seq = seq + 1 RETURNING seq")
    return int(seq)


def _configure_writer(
    connection: sqlite3.Connection,
    path: Path,
    prepare: Callable[[sqlite3.Connection, Path], None],
) -> None:
    for setting in _WRITER_SETTINGS:
        connection.execute(setting)
    connection.text_factory = legible
    mark(connection)
    [(mode,)] = connection.execute("PRAGMA journal_mode = WAL")
    if mode != "wal":
        raise JournalError(
            f"SQLite cannot keep a write-ahead log here (journal mode {mode!r}); "
            "choose a data folder on a local disk"
        )
    # A migration that a power failure undoes is run again, so none needs to wait for the disk.
    connection.execute("PRAGMA synchronous = NORMAL")
    prepare(connection, path)
    connection.execute("PRAGMA synchronous = FULL")


def _configure_reader(connection: sqlite3.Connection) -> None:
    for setting in _READER_SETTINGS:
        connection.execute(setting)
    connection.execute(_FIRST_READ).fetchall()


def _configure_old_reader(connection: sqlite3.Connection, newest: int) -> None:
    _configure_reader(connection)
    require(newest, connection)


def _checkpoint(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA wal_checkpoint").fetchall()


def _configure_snapshot(connection: sqlite3.Connection) -> None:
    _configure_reader(connection)
    connection.execute("BEGIN")
    connection.execute("SELECT seq FROM journal").fetchall()  # a snapshot starts at its first read


def _settle(job: Job, outcome: Outcome) -> None:
    if job.outcome.done():
        return
    if outcome.error is None:
        job.outcome.set_result(outcome.value)
    else:
        job.outcome.set_exception(outcome.error)


def _settle_all(jobs: Sequence[Job] | deque[Job], error: JournalError) -> None:
    for job in jobs:
        _settle(job, Outcome(None, error))


_SECONDS = 1.0
"""The time between two attempts."""


class PatientDatabase(Database):
    """A view of a database that uses its connections, but retries refused changes."""

    def __init__(self, database: Database, hurry: asyncio.Event) -> None:
        """Stop retrying once `hurry` is set."""
        self._database = database
        self._hurry = hurry
        self.deferred_writes = database.deferred_writes

    async def write(self, work: Work[T], *, size: int | None = None) -> T:
        """Run the job like `Database.write`, but retry `PASSING` errors until `hurry` is set."""
        try:
            return await self._database.write(work, size=size)
        except PASSING:
            if self._hurry.is_set():
                raise
        with self._database.waited_for():
            return await self._write_again(work)

    async def _write_again(self, work: Work[T]) -> T:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), _SECONDS)
            try:
                return await self._database.write(work)
            except PASSING:
                if self._hurry.is_set():
                    raise

    async def fetch(self, sql: str, *parameters: object) -> list[Any]:
        return await self._database.fetch(sql, *parameters)

    async def find(self, sql: str, *parameters: object) -> list[Any]:
        return await self._database.find(sql, *parameters)

    def snapshot(self) -> AbstractAsyncContextManager[Snapshot]:
        return self._database.snapshot()
