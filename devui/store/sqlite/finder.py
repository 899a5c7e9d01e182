"""The connection that reads on the event loop's own thread (docs/decisions/0028).

Nothing takes long on it. It gives up on many rows, long texts and long statements, and whenever
something is wrong; then the reading connection's thread reads instead.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, Self

_MOST_ROWS: Final = 64
_LONGEST: Final = 65_536
"""Bytes of a value."""
_STEPS: Final = 1000
"""Of SQLite's virtual machine, after which it asks whether to go on."""
_MOST_TIMES: Final = 20
"""That it asks in one statement, which has taken about a millisecond by then."""


class Finder:
    """Finds a few rows at once, or none at all."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._times = 0
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        connection.set_progress_handler(self._is_too_long, _STEPS)

    @classmethod
    def open(
        cls, path: Path, factory: type[sqlite3.Connection], settings: Sequence[str]
    ) -> Self | None:
        """Open the file, which another connection holds open; None if that fails."""
        with suppress(sqlite3.Error):
            connection = sqlite3.connect(path, timeout=0, isolation_level=None, factory=factory)
            try:
                for setting in settings:
                    connection.execute(setting).fetchall()
                return cls(connection)
            except sqlite3.Error:
                connection.close()
        return None

    def rows(self, sql: str, values: Sequence[object]) -> list[Any] | None:
        """Return the rows of a reading statement; None if somebody else has to read them."""
        self._times = 0
        try:
            with closing(self._connection.execute(sql, values)) as cursor:
                rows = cursor.fetchmany(_MOST_ROWS + 1)
        except sqlite3.ProgrammingError:
            raise
        except sqlite3.DatabaseError:
            return None
        return rows if len(rows) <= _MOST_ROWS else None

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _is_too_long(self) -> bool:
        self._times += 1
        return self._times > _MOST_TIMES
