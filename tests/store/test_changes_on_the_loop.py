"""Small changes are made on the event loop's thread while the disk is quick (ADR 29)."""

import asyncio
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import ClassVar

import pytest

from devui.store.journal import Journal
from devui.store.sqlite import connection
from devui.store.sqlite.database import advance
from tests.store.kit import new_event


class Watched(sqlite3.Connection):
    """A connection that records which threads commit."""

    threads: ClassVar[list[int]] = []

    def execute(self, sql: str, parameters: Sequence[object] = (), /) -> sqlite3.Cursor:
        if sql == "COMMIT":
            self.threads.append(threading.get_ident())
        return super().execute(sql, parameters)


class Crossed(sqlite3.Connection):
    """A connection that lets another one take the lock just before a transaction."""

    other: ClassVar[sqlite3.Connection]
    before: ClassVar[int] = 0
    """Which of the next transactions is preceded by the lock, from 1; 0 for none."""

    def execute(self, sql: str, parameters: Sequence[object] = (), /) -> sqlite3.Cursor:
        if sql == "BEGIN IMMEDIATE" and Crossed.before:
            Crossed.before -= 1
            if not Crossed.before:
                self.other.execute("BEGIN IMMEDIATE")
        return super().execute(sql, parameters)


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make any disk count as fast."""
    monkeypatch.setattr(connection, "_MOMENT", 60.0)
    Watched.threads.clear()


async def appended(journal: Journal, session: int, number: int, text: str = "hi") -> int:
    event = new_event(f"e{number}", text=text)
    return (await journal.events.append(session, event, None)).number


async def test_first_every_hundredth_and_large_changes_are_made_in_a_thread(
    tmp_path: Path,
) -> None:
    async with await Journal.open(tmp_path, factory=Watched) as journal:
        key = (await journal.sessions.create("travel", "ada", "s1", {})).key
        Watched.threads.clear()
        for number in range(1, 121):
            await appended(journal, key, number)
        here = [thread == threading.get_ident() for thread in Watched.threads]
        assert len(here) == 120
        assert here[:6] == [False] * 6
        assert here.count(False) == here.index(True) + 1
        Watched.threads.clear()
        assert await appended(journal, key, 121, "x" * connection.SMALL) == 121
        assert Watched.threads != [threading.get_ident()]


async def test_waiting_for_the_lock_of_another_process_does_not_block_the_loop(
    tmp_path: Path,
) -> None:
    async with await Journal.open(tmp_path, factory=Watched) as journal:
        key = (await journal.sessions.create("travel", "ada", "s1", {})).key
        for number in range(1, 11):
            await appended(journal, key, number)
        assert Watched.threads[-1] == threading.get_ident()
        with closing(sqlite3.connect(tmp_path / "journal.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            change = asyncio.create_task(appended(journal, key, 11))
            for _ in range(20):
                await asyncio.sleep(0.005)  # the loop isn't blocked
            assert not change.done()
            other.execute("COMMIT")
        assert await change == 11
        assert [row.number for row in await journal.events.since(key, 0)] == [*range(1, 12)]


async def test_a_change_is_made_once_even_if_another_process_takes_the_lock(
    tmp_path: Path,
) -> None:
    """The failing job rolls back its batch's transaction, so the changes are made one by one."""

    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("ROLLBACK")
        raise ZeroDivisionError

    async with await Journal.open(tmp_path, factory=Crossed) as journal:
        key = (await journal.sessions.create("travel", "ada", "s1", {})).key
        for number in range(1, 11):
            await appended(journal, key, number)
        other = sqlite3.connect(
            tmp_path / "journal.db", isolation_level=None, check_same_thread=False
        )
        with closing(other):
            head = await journal.head()
            Crossed.other, Crossed.before = other, 3
            asyncio.get_running_loop().call_later(0.1, other.execute, "ROLLBACK")
            number, failure = await asyncio.gather(
                journal._database.write(advance, size=0),
                journal._database.write(fail, size=0),
                return_exceptions=True,
            )
        assert (number, type(failure)) == (head + 1, ZeroDivisionError)
        assert await journal.head() == head + 1
