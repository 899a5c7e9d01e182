"""Jobs that are committed together, in one transaction (group commit).

Each has a savepoint: one that fails takes back what is its own, and its caller alone is told.
"""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from devui.store.errors import primary_code
from devui.store.schema import rolled_back

T = TypeVar("T")

Work = Callable[[sqlite3.Connection], T]
"""A job's body. It may run twice, so it touches nothing but the connection."""


class Outcome(NamedTuple):
    """What came of one job."""

    value: Any
    error: Exception | None

    @property
    def is_io_error(self) -> bool:
        """Whether the disk has failed."""
        error = self.error
        return isinstance(error, sqlite3.Error) and primary_code(error) == sqlite3.SQLITE_IOERR


class _TransactionLost(Exception):
    """SQLite rolled the whole transaction back while one of its jobs ran."""


def run_batch(connection: sqlite3.Connection, works: Sequence[Work[Any]]) -> list[Outcome]:
    """Commit all jobs in one transaction; one that takes the transaction down goes down alone."""
    try:
        return _run_together(connection, works)
    except _TransactionLost as lost:
        if len(works) == 1:
            return [Outcome(None, cast("Exception", lost.__cause__))]
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
