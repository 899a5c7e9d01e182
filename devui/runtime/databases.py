"""SQLite files, each used by one job at a time over one connection that stays open.

The standard library's driver blocks, so that a service hands its work to a thread. One writer
at a time is what SQLite allows anyway, and an open connection keeps its page cache.

See adk-runtime 2.5, 10.2.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from devui.runtime.plain_threads import Call, PlainThreads

T = TypeVar("T")

MEMORY = ":memory:"
BUSY_SECONDS = 10.0
"""How long to wait for other processes that write the same file."""
_threads = PlainThreads(64, "devui-sqlite", near=False)
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


async def give_way() -> None:
    """Let others have the loop, which a row of jobs that are done at once would keep from them."""
    await asyncio.sleep(0)


class Database:
    """One database. It is opened on first use, and may be used after `close`."""

    def __init__(self, path: DatabasePath, prepare: Callable[[sqlite3.Connection], None]) -> None:
        """Describe the database; `prepare` checks or makes its schema right after opening."""
        self.path = path
        self._prepare = prepare
        self._connection: sqlite3.Connection | None = None
        self._turn = threading.Lock()
        """Whose job it is that uses the connection."""

    async def read(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """What `job` returns; all that it reads is of one moment."""
        return await self._done("BEGIN", job)

    async def write(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """What `job` returns, once its changes are on the disk; if it raises, none is made.

        A caller that is cancelled waits no longer; the job is done whole.
        """
        return await self._done("BEGIN IMMEDIATE", job)

    def begin_write(self, job: Callable[[sqlite3.Connection], Any]) -> Call:
        """As `write`, for a caller that has to know of the job's end although it is cancelled.

        It should `give_way` after that, unless it had to wait.
        """
        return _threads.begin(lambda: self._transaction("BEGIN IMMEDIATE", job))

    async def close(self) -> None:
        """Close the file after what is under way."""
        await _threads.run(self._close)

    async def _done(self, begin: str, job: Callable[[sqlite3.Connection], T]) -> T:
        result: T = await _threads.run(lambda: self._transaction(begin, job))
        await give_way()
        return result

    def _transaction(self, begin: str, job: Callable[[sqlite3.Connection], T]) -> T:
        with self._turn:
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
        connection = self._connected()
        try:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA foreign_keys = ON")
            self._prepare(connection)
            with suppress(sqlite3.OperationalError):  # a file opened read-only keeps its mode
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        except BaseException as error:
            connection.close()
            if type(error) is sqlite3.DatabaseError:
                raise RuntimeError(
                    f"{self.path.name} is no SQLite database, or is damaged: {error}. It was left"
                    " as it is; give the name of another file."
                ) from error
            raise
        return connection

    def _connected(self) -> sqlite3.Connection:
        try:
            return sqlite3.connect(
                self.path.target,
                uri=self.path.is_uri,
                timeout=BUSY_SECONDS,
                isolation_level=None,  # transactions are begun by name, above
                check_same_thread=False,  # each job may have another
            )
        except sqlite3.OperationalError as error:
            error.add_note(f"The file is {self.path.name}; make its folder first, and writable.")
            raise

    def _close(self) -> None:
        with self._turn:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def tables(connection: sqlite3.Connection) -> set[str]:
    """The names of the tables of a database."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {row[0] for row in rows}
