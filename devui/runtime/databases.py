"""SQLite files, each used by one thread over one connection that stays open.

The standard library's driver blocks, so that a service hands its work to that thread. One writer
at a time is what SQLite allows anyway, and an open connection keeps its page cache.

See adk-runtime 2.5, 10.2.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

T = TypeVar("T")

MEMORY = ":memory:"
BUSY_SECONDS = 10.0
"""How long to wait for other processes that write the same file."""
_URL_SCHEMES = ("sqlite:", "sqlite+aiosqlite:")


@dataclass(frozen=True, slots=True)
class DatabasePath:
    """Where a database is: a file's name for people, and what SQLite is given."""

    name: str
    target: str
    is_uri: bool = False

    @classmethod
    def of(cls, path: str | Path) -> "DatabasePath":
        """Read a plain path, or a URL as SQLAlchemy writes them (adk-runtime 2.5).

        `sqlite:///some.db` is relative, `sqlite:////some.db` absolute, and the part after `?` is
        handed to SQLite (`?mode=ro`). Raises ValueError for an empty path.
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


class Database:
    """One database with its thread. It is opened on first use, and may be used after `close`."""

    def __init__(self, path: DatabasePath, prepare: Callable[[sqlite3.Connection], None]) -> None:
        """Describe the database; `prepare` checks or makes its schema right after opening."""
        self.path = path
        self._prepare = prepare
        self._connection: sqlite3.Connection | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    async def read(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """What `job` returns; all that it reads is of one moment."""
        return await self._run("BEGIN", job)

    async def write(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """What `job` returns, once its changes are on the disk; if it raises, none is made.

        A caller that is cancelled waits no longer; the job is done whole, or was not begun.
        """
        return await self._run("BEGIN IMMEDIATE", job)

    async def close(self) -> None:
        """Close the file after what is under way."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.wrap_future(thread.submit(self._close))
            thread.shutdown(wait=False)

    async def _run(self, begin: str, job: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            if self._thread is None:
                self._thread = ThreadPoolExecutor(1, thread_name_prefix="devui-sqlite")
            future = self._thread.submit(self._transaction, begin, job)
        return await asyncio.wrap_future(future)

    def _transaction(self, begin: str, job: Callable[[sqlite3.Connection], T]) -> T:
        if self._connection is None:
            self._connection = self._open()
        connection = self._connection
        connection.execute(begin)
        try:
            result = job(connection)
            connection.execute("COMMIT")
        except BaseException:
            connection.rollback()
            raise
        return result

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path.target,
            uri=self.path.is_uri,
            timeout=BUSY_SECONDS,
            isolation_level=None,  # transactions are begun by name, above
            check_same_thread=False,  # closing may come from the next thread
        )
        try:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA foreign_keys = ON")
            self._prepare(connection)
            with suppress(sqlite3.OperationalError):  # a file opened read-only keeps its mode
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        except BaseException:
            connection.close()
            raise
        return connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def tables(connection: sqlite3.Connection) -> set[str]:
    """The names of the tables of a database."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {row[0] for row in rows}
