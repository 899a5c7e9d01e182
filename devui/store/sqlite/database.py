"""The connections to the journal's file: one that writes, two that read.

A change is a job: a function of the writing connection that runs from beginning to end, inside a
transaction, on aiosqlite's thread, or on the loop's if it is small and the disk is quick. One task
owns that connection. It takes all the jobs that wait, gives each a savepoint and commits them
together (group commit), and only then tells the callers. A caller that is cancelled stops waiting;
its job, once accepted, is done whole (R40). The queue is bounded: when it is full, callers wait for
room.

Reads go over the other connections and see everything committed before they began. What a key finds
is read on the loop's own thread: the way to another and back takes ten times as long.
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


class Owed(NamedTuple):
    """A change that has to come, whatever the journal answers first."""

    work: Work[Any]
    """Does nothing the second time."""
    outcome: Any
    """What readers see once the journal has refused it."""
    refused: bool = False


class Outcome(NamedTuple):
    """What came of one job."""

    value: Any
    error: Exception | None

    @property
    def is_disk_error(self) -> bool:
        """Whether the disk has failed, or may have: SQLite reports a read that the system refused
        (EIO) as a malformed file (SQLITE_IOERR_CORRUPTFS)."""
        error = self.error
        return isinstance(error, sqlite3.Error) and primary_code(error) in _DISK_ERRORS


class _TransactionLost(Exception):
    """SQLite rolled the whole transaction back while one of its jobs ran."""


def run_batch(connection: sqlite3.Connection, works: Sequence[Work[Any]]) -> list[Outcome]:
    """Commit all jobs in one transaction; one that takes the transaction down goes down alone."""
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
    except Exception as error:  # it belongs to the job's caller, not to the batch
        if not connection.in_transaction:
            raise _TransactionLost from error
        connection.execute("ROLLBACK TO job")
        outcome = Outcome(None, error)
    connection.execute("RELEASE job")
    return outcome


_LOG = logging.getLogger(__name__)

_FINDS = 16
"""Calls of `find`, after which everybody else on the loop gets a turn."""

_QUEUE_LIMIT = 256
"""Jobs accepted and not yet committed; the next caller waits."""

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
"""SQLite opens the log with it: later, that of another file may be in its place (R42)."""


class Job(NamedTuple):
    work: Work[Any]
    outcome: asyncio.Future[Any]
    size: int | None


class Database:
    """The journal's file: one connection writes, one reads, and one finds a few rows at once."""

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
        self.owed: dict[str, Owed] = {}
        """Changes that come before all others until they are made, by what they are about."""
        self.trouble: JournalError | None = None
        """Why changes are not taken at present; None if they are, as far as is known."""
        self.on_trouble: Callable[[JournalError | None], None] | None = None
        """Called in the loop when that turns."""
        self._writer: Connection | None = None
        """None as long as the file lets itself be read alone."""
        self._reader: Connection
        self._finder: Finder | None = None
        """None as long as the file is only read, or when it could not be opened once more."""
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
        """Open the connections; `prepare` (migrations) runs on the writing one before anything.

        A file of version `newest` that cannot be written now is opened to be read, with `trouble`,
        until it can (R42). `factory` is the connection class of SQLite's binding, so that tests can
        make it fail.
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
        """Open the reading connection alone; raises the trouble if that is no way out."""
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
        """Run the job in a transaction; return its result once it is on the disk.

        `size` is about how many bytes of text it writes; a job of unknown size may be long, and is
        left to a thread. Raises what the job raises, with nothing of it kept, or a JournalError.
        """
        await self._room.acquire()
        if self._closing:
            self._room.release()
            raise JournalClosed(f"the journal {str(self._path)!r} is closed")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        future.add_done_callback(lambda _: self._room.release())
        self._waiting.append(Job(work, future, size))
        self._wake.set()
        # The shield keeps a cancelled caller from taking its job, or its place, out of the queue.
        return await asyncio.shield(future)

    @contextmanager
    def waited_for(self) -> Iterator[None]:
        """Whoever is inside tries a refused change again; that smaller ones fit ends no trouble."""
        self._waited_for += 1
        try:
            yield
        finally:
            self._waited_for -= 1

    async def fetch(self, sql: str, *parameters: object) -> list[Any]:
        """Return all rows of one reading statement, as tuples."""
        if self._closing:
            raise JournalClosed(f"the journal {str(self._path)!r} is closed")
        return await self._reader.fetch(sql, parameters)

    async def find(self, sql: str, *parameters: object) -> list[Any]:
        """As `fetch`, but on the loop's thread: for a few short rows that an index finds.

        What turns out to be more is fetched.
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
        """What is committed now, for as long as it is read; others go on writing (R45)."""
        return self._snapshot()

    @asynccontextmanager
    async def _snapshot(self) -> AsyncIterator["Snapshot"]:
        self._files.check()  # of what is not there SQLite would make an empty one
        try:
            connection = await self._connect(_configure_snapshot, reads_only=not self._writer)
        except sqlite3.Error as error:
            raise from_sqlite(error, str(self._path)) from error
        try:
            yield Snapshot(connection, self._path)
        finally:
            await connection.close()

    async def close(self) -> None:
        """Finish the accepted jobs, then close the connections; further calls do nothing."""
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
                # For those without an outcome: the loop is ending and took the writer with it.
                _settle_all(batch, JournalClosed("the writer was stopped; the outcome is unknown"))

    async def _commit(self, works: Sequence[Work[Any]], size: int | None) -> list[Outcome]:
        owed = dict(self.owed)
        works = [*(each.work for each in owed.values()), *works]
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
        for name, outcome in zip(owed, results, strict=False):
            if outcome.error is None or _is_final(outcome.error):
                self.owed.pop(name, None)
        return results[len(owed) :]

    async def _run(
        self, writer: Connection, works: Sequence[Work[Any]], size: int | None
    ) -> list[Outcome]:
        """Run them where it is quickest; by a thread if that may have to wait, or to begin again
        (docs/decisions/0029)."""
        if size is not None and size <= SMALL and self._pace.allows_the_loop():
            try:
                outcomes, seconds = writer.call_at_once(partial(_timed, _run_together, works))
            except _TransactionLost:
                pass  # nothing is committed: a thread runs them, one by one if it has to
            except sqlite3.OperationalError as error:
                if primary_code(error) != sqlite3.SQLITE_BUSY:
                    raise
                # Another process writes, as a backup does: a thread waits for it.
            else:
                self._pace.took(seconds, on_the_loop=True)
                return outcomes
        outcomes, seconds = await writer.call_patiently(partial(_timed, run_batch, works))
        self._pace.took(seconds, on_the_loop=False)
        return outcomes

    async def _save_log(self) -> None:
        """Move what the log holds into the journal, while it can still be read: the file lives as
        long as it is open."""
        if self._writer is not None:
            with suppress(sqlite3.Error):  # the next try, or the end of the server, does it
                await self._writer.call(_checkpoint)

    def _note(self, errors: list[Exception | None]) -> None:
        """Keep whether the journal takes changes; a job that fails by itself says nothing of it."""
        trouble = next((error for error in errors if isinstance(error, PASSING)), None)
        has_changed = type(trouble) is not type(self.trouble)
        over = None in errors and not self._waited_for
        if has_changed and (trouble is not None or over):
            self.trouble = trouble
            if self.on_trouble is not None:
                self.on_trouble(trouble)

    async def _reopen(self) -> Connection:
        """Trust no connection that saw the disk fail: open a new one and check the file (R42)."""
        require_writable(self._path)
        _LOG.warning("reopening %s after an I/O error", self._path)
        ready = partial(_configure_writer, path=self._path, prepare=check)
        fresh = await self._connect(ready)
        stale, self._writer = self._writer, fresh
        if stale is None:  # what was opened to be read only may not see what is written now
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
    """The size of all jobs together; None if that of one is not known."""
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
    """Whether a change is refused for good, as what it is about is gone."""
    return isinstance(error, StoreError) and not isinstance(error, JournalError)


class Snapshot:
    """The journal as it was at one moment."""

    def __init__(self, connection: Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    async def fetch(self, sql: str, *parameters: object) -> list[Any]:
        """Return all rows of one reading statement, as tuples."""
        return await self._connection.fetch(sql, parameters)


def advance(connection: sqlite3.Connection) -> int:
    """Take the next number of the journal-wide counter."""
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
    # A step of a migration that a power failure undoes is made again, so none waits for the disk.
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
    connection.execute("SELECT seq FROM journal").fetchall()  # the moment is that of the first read


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
"""Between two tries."""


class PatientDatabase(Database):
    """The same file by the same connections; only its changes wait."""

    def __init__(self, database: Database, hurry: asyncio.Event) -> None:
        """`hurry` is set when nothing is to be waited for any more."""
        self._database = database
        self._hurry = hurry
        self.owed = database.owed

    async def write(self, work: Work[T], *, size: int | None = None) -> T:
        """As `Database.write`; what passes is waited for, until somebody is in a hurry."""
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
        """As `Database.fetch`."""
        return await self._database.fetch(sql, *parameters)

    async def find(self, sql: str, *parameters: object) -> list[Any]:
        """As `Database.find`."""
        return await self._database.find(sql, *parameters)

    def snapshot(self) -> AbstractAsyncContextManager[Snapshot]:
        """As `Database.snapshot`."""
        return self._database.snapshot()
