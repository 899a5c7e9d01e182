"""The connection for short reads on the event loop's thread (docs/decisions/0028).

It gives up on many rows, long values, long-running statements and any error, so that it never
blocks for long; the reading connection then runs the query on its own thread.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, Self

_MOST_ROWS: Final = 64
_LONGEST: Final = 65_536
"""The maximum size of a value, in bytes."""
_STEPS: Final = 1000
"""Instructions of SQLite's virtual machine between two calls of the progress handler."""
_MOST_TIMES: Final = 20
"""The maximum number of these calls in one statement, reached after about a millisecond."""


class Finder:
    """Runs short queries on the caller's thread and gives up on longer ones."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._times = 0
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        connection.set_progress_handler(self._is_too_long, _STEPS)

    @classmethod
    def open(
        cls, path: Path, factory: type[sqlite3.Connection], settings: Sequence[str]
    ) -> Self | None:
        """Open the file, which another connection already has open; None if that fails."""
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
        """Return the rows of a query; None if another connection has to read them."""
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
        self._connection.close()

    def _is_too_long(self) -> bool:
        self._times += 1
        return self._times > _MOST_TIMES
