"""Opens SQLite files read-only; nothing that a file defines is run."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from devui.debugger.adk_imports.sources import Unreadable

MAGIC: Final = b"SQLite format 3\0"
"""The beginning of every SQLite file."""
_COLUMNS: Final = """
    SELECT info.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS info
    WHERE tables.type = 'table' AND tables.name = :table
"""
_EVENTS: Final = """
    SELECT * FROM events WHERE app_name = :app AND user_id = :user AND session_id = :id
    ORDER BY timestamp, rowid
"""
_LONGEST: Final = 256_000_000
"""The longest value, in bytes."""


def is_sqlite(path: Path) -> bool:
    """Whether the file is a SQLite database. Raises OSError."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


class SqliteTables:
    """The tables of a SQLite file. Raises Unreadable."""

    def __init__(self, path: Path, *, place: str | None = None) -> None:
        self._place = place or str(path)
        # A write-ahead log may contain the newest events. Without one, the file is opened as
        # immutable, so that SQLite doesn't have to write anything beside it.
        log = path.with_name(f"{path.name}-wal").exists()
        address = f"file:{quote(str(path.resolve()))}?mode=ro{'' if log else '&immutable=1'}"
        with self._reading():
            self._connection = sqlite3.connect(address, uri=True, check_same_thread=False)
            self._connection.row_factory = sqlite3.Row
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            self._connection.execute("PRAGMA trusted_schema = OFF")

    @property
    def place(self) -> str:
        """The file, for display."""
        return self._place

    def close(self) -> None:
        self._connection.close()

    def columns(self, table: str) -> set[str]:
        """Return the columns of a table; none if it doesn't exist."""
        return {str(row["name"]) for row in self.rows(_COLUMNS, {"table": table})}

    def rows(
        self, query: str, names: Mapping[str, str] | None = None
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a query."""
        with self._reading():
            for row in self._connection.execute(query, names or {}):
                yield dict(row)

    def events(self, names: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a session's events, in the order in which they were appended."""
        return self.rows(_EVENTS, names)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeError) as error:
            raise Unreadable(f"{self._place}: SQLite can't read it: {error}") from error
