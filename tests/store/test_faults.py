import asyncio
import dataclasses
import itertools
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from devui.store.errors import JournalBusy, JournalError, JournalFailed, JournalFull, JournalGone
from devui.store.journal import Journal
from devui.store.rows import NewEvent
from tests.store.kit import (
    FaultyConnection,
    ImpatientConnection,
    SmallConnection,
    event_with,
    new_event,
)

CODES = [sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL]
KINDS = {sqlite3.SQLITE_IOERR: JournalFailed, sqlite3.SQLITE_FULL: JournalFull}


@pytest.fixture(autouse=True)
def sound() -> Iterator[None]:
    yield
    FaultyConnection.disarm()
    SmallConnection.pages = 1_000_000


@pytest.mark.req("R37")
@pytest.mark.req("R42")
@pytest.mark.parametrize("afterwards", [False, True])
@pytest.mark.parametrize("code", CODES)
async def test_an_append_is_atomic_whichever_statement_fails(
    tmp_path: Path, afterwards: bool, code: int
) -> None:
    async with await Journal.open(tmp_path, factory=FaultyConnection) as journal:
        session = await journal.sessions.create("travel", "ada", "s1", {"user:a": 0})
        await journal.runs.start("r1", session.key)
        for nth in itertools.count(1):
            event = event_with({"a": nth, "user:a": nth}, f"e{nth}")
            FaultyConnection.arm(nth, afterwards=afterwards, code=code)
            outcome = (
                await asyncio.gather(
                    journal.events.append(session.key, event, "r1"), return_exceptions=True
                )
            )[0]
            happened = FaultyConnection.disarm()
            rows = await journal.events.since(session.key, 0)
            values = await journal.state.merged(session.key)
            assert len(rows) in {nth - 1, nth}
            assert values == ({"a": len(rows), "user:a": len(rows)} if rows else {"user:a": 0})
            assert len(rows) == sum((await journal.events.counts(session.key)).values())
            if not happened:
                assert not isinstance(outcome, BaseException)
                break
            assert isinstance(outcome, KINDS[code])
            again = await journal.events.append(session.key, event, "r1")
            assert (again.number, again.duplicate) == (nth, len(rows) == nth)
        assert nth > 8
        assert await journal._database._writer.call(
            lambda connection: connection.execute("PRAGMA integrity_check").fetchall()
        ) == [("ok",)]


@pytest.mark.req("R42")
async def test_a_connection_is_replaced_after_an_io_error(tmp_path: Path) -> None:
    async with await Journal.open(tmp_path, factory=FaultyConnection) as journal:
        session = await journal.sessions.create("travel", "ada", "s1", {})
        before = journal._database._writer
        FaultyConnection.arm(3, afterwards=False, code=sqlite3.SQLITE_FULL)
        with pytest.raises(JournalFull):
            await journal.events.append(session.key, new_event("e1"), None)
        await journal.events.append(session.key, new_event("e1"), None)
        assert journal._database._writer is before
        FaultyConnection.arm(3, afterwards=False, code=sqlite3.SQLITE_IOERR)
        with pytest.raises(JournalFailed, match="check the disk"):
            await journal.events.append(session.key, new_event("e2"), None)
        FaultyConnection.arm(1, afterwards=False)  # the reopening fails as well
        with pytest.raises(JournalFailed):
            await journal.events.append(session.key, new_event("e2"), None)
        FaultyConnection.disarm()
        assert (await journal.events.append(session.key, new_event("e2"), None)).number == 2
        assert journal._database._writer is not before


def large_event(event_id: str, size: int) -> NewEvent:
    return dataclasses.replace(new_event(event_id), data='"' + "x" * size + '"')


async def append_for_ever(journal: Journal, key: int) -> None:
    for number in itertools.count(1):
        await journal.events.append(key, large_event(f"e{number}", 9000), None)


@pytest.mark.req("R42")
async def test_appends_fail_on_a_full_disk_and_succeed_once_there_is_room(tmp_path: Path) -> None:
    SmallConnection.pages = 100
    async with await Journal.open(tmp_path, factory=SmallConnection) as journal:
        session = await journal.sessions.create("travel", "ada", "s1", {})
        with pytest.raises(JournalFull, match="make room"):
            await append_for_ever(journal, session.key)
        rows = await journal.events.since(session.key, 0)
        assert [row.number for row in rows] == list(range(1, len(rows) + 1))
        SmallConnection.pages = 1000
        last = large_event(f"e{len(rows) + 1}", 9000)
        done = await journal.events.append(session.key, last, None)
        assert (done.number, done.duplicate) == (len(rows) + 1, False)


@pytest.mark.req("R42")
async def test_a_change_that_is_too_large_fails_alone(tmp_path: Path) -> None:
    SmallConnection.pages = 200
    async with await Journal.open(tmp_path, factory=SmallConnection) as journal:
        session = await journal.sessions.create("travel", "ada", "s1", {})
        results = await asyncio.gather(
            journal.events.append(session.key, large_event("small1", 100), None),
            journal.events.append(session.key, large_event("giant", 2_000_000), None),
            journal.events.append(session.key, large_event("small2", 100), None),
            return_exceptions=True,
        )
        assert isinstance(results[1], JournalFull)
        rows = await journal.events.since(session.key, 0)
        assert [(row.id, row.number) for row in rows] == [("small1", 1), ("small2", 2)]


@pytest.mark.req("R42")
async def test_smaller_changes_do_not_end_the_trouble_of_a_waiting_run(tmp_path: Path) -> None:
    SmallConnection.pages = 200
    troubles: list[JournalError | None] = []
    begun = asyncio.Event()

    def turned(trouble: JournalError | None) -> None:
        troubles.append(trouble)
        begun.set()

    async with await Journal.open(tmp_path, factory=SmallConnection) as journal:
        session = await journal.sessions.create("travel", "ada", "s1", {})
        journal.on_trouble(turned)
        patient = journal.patient(asyncio.Event())
        giant = large_event("giant", 2_000_000)
        waiting = asyncio.create_task(patient.events.append(session.key, giant, None))
        await begun.wait()
        for number in range(20):
            small = large_event(f"small{number}", 100)
            await journal.events.append(session.key, small, None)
        assert [type(each) for each in troubles] == [JournalFull]
        SmallConnection.pages = 2000
        assert (await waiting).number == 21
        await journal.probe()
        assert [type(each) for each in troubles] == [JournalFull, type(None)]


@pytest.mark.req("R41")
async def test_an_append_fails_while_another_process_holds_the_lock(tmp_path: Path) -> None:
    async with await Journal.open(tmp_path, factory=ImpatientConnection) as journal:
        session = await journal.sessions.create("travel", "ada", "s1", {})
        with closing(sqlite3.connect(tmp_path / "journal.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(JournalBusy, match="close the program"):
                await journal.events.append(session.key, new_event(), None)
            assert await journal.events.since(session.key, 0) == []
            other.execute("ROLLBACK")
        assert (await journal.events.append(session.key, new_event(), None)).number == 1


@pytest.mark.req("R41")
async def test_an_append_waits_for_a_short_lock(tmp_path: Path) -> None:
    async with await Journal.open(tmp_path) as journal:
        session = await journal.sessions.create("travel", "ada", "s1", {})
        with closing(sqlite3.connect(tmp_path / "journal.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            task = asyncio.create_task(journal.events.append(session.key, new_event(), None))
            for _ in range(100):
                await asyncio.sleep(0)
            assert await journal.events.since(session.key, 0) == []
            other.execute("ROLLBACK")
            assert (await task).number == 1


@pytest.mark.req("R42")
async def test_a_folder_where_files_cannot_be_created_gives_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "data" / "journal.db-wal").mkdir(parents=True)
    with pytest.raises(JournalFailed, match="permissions of the data folder"):
        await Journal.open(tmp_path / "data")


@pytest.mark.req("R42")
@pytest.mark.parametrize("replaced", [False, True])
async def test_nothing_is_written_to_a_moved_or_replaced_journal(
    tmp_path: Path, replaced: bool
) -> None:
    path, elsewhere = tmp_path / "data" / "journal.db", tmp_path / "elsewhere"
    async with await Journal.open(tmp_path / "data") as journal:
        session = await journal.sessions.create("travel", "ada", "s1", {})
        await journal.events.append(session.key, new_event("first"), None)
        path.parent.rename(elsewhere)
        if replaced:
            path.parent.mkdir()
            path.touch()
        with pytest.raises(JournalGone, match="was moved or deleted"):
            await journal.events.append(session.key, new_event("second"), None)
        with pytest.raises(JournalGone):
            async with journal.snapshot():
                pass
        assert isinstance(journal.trouble, JournalGone)
        assert [row.number for row in await journal.events.since(session.key, 0)] == [1]
        if replaced:
            assert path.read_bytes() == b""
            path.unlink()
            path.parent.rmdir()
        assert not path.exists()
        elsewhere.rename(path.parent)
        assert (await journal.events.append(session.key, new_event("second"), None)).number == 2
        assert journal.trouble is None
