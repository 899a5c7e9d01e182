import asyncio
import sqlite3
from pathlib import Path

import pytest

from devui.store.errors import EventConflict, JournalClosed, SessionNotFound
from devui.store.journal import Journal
from devui.store.rows import SessionRow
from tests.store.kit import ListeningConnection, append_many, new_event


@pytest.mark.req("R37")
async def test_concurrent_appends_get_numbers_without_gaps(
    journal: Journal, session: SessionRow
) -> None:
    await append_many(journal, session.key, 600)
    rows = await journal.events.since(session.key, 0)
    assert [row.number for row in rows] == list(range(1, 601))
    assert [row.seq for row in rows] == list(range(session.seq + 1, session.seq + 601))


async def test_queued_changes_share_a_commit(tmp_path: Path) -> None:
    async with await Journal.open(tmp_path, factory=ListeningConnection) as journal:
        row = await journal.sessions.create("travel", "ada", "s1", {})
        ListeningConnection.statements.clear()
        await append_many(journal, row.key, 50)
        assert ListeningConnection.statements.count("COMMIT") <= 2


async def test_a_refused_change_does_not_affect_the_others_of_its_batch(
    journal: Journal, session: SessionRow
) -> None:
    await journal.events.append(session.key, new_event("e1"), None)
    results = await asyncio.gather(
        journal.events.append(session.key, new_event("e2"), None),
        journal.events.append(session.key, new_event("e1", text="other"), None),
        journal.events.append(99, new_event("e3"), None),
        journal.events.append(session.key, new_event("e4"), None),
        return_exceptions=True,
    )
    assert isinstance(results[1], EventConflict)
    assert isinstance(results[2], SessionNotFound)
    rows = await journal.events.since(session.key, 0)
    assert [(row.id, row.number) for row in rows] == [("e1", 1), ("e2", 2), ("e4", 3)]


async def test_an_exception_in_a_job_reaches_its_caller_and_undoes_its_writes(
    journal: Journal,
) -> None:
    def work(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE journal SET seq = 1000")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await journal._database.write(work)
    assert await journal.head() == 0


async def test_closing_finishes_accepted_changes(tmp_path: Path) -> None:
    journal = await Journal.open(tmp_path)
    row = await journal.sessions.create("travel", "ada", "s1", {})
    tasks = [
        asyncio.create_task(journal.events.append(row.key, new_event(f"e{n}"), None))
        for n in range(400)
    ]
    await asyncio.sleep(0)
    await journal.close()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    done = [result for result in results if not isinstance(result, JournalClosed)]
    assert not any(isinstance(result, BaseException) for result in done)
    async with await Journal.open(tmp_path) as again:
        assert len(await again.events.since(row.key, 0)) == len(done) >= 1


@pytest.mark.req("R40")
async def test_callers_get_journal_closed_if_the_writer_is_stopped(tmp_path: Path) -> None:
    journal = await Journal.open(tmp_path)
    row = await journal.sessions.create("travel", "ada", "s1", {})
    pending = asyncio.gather(
        *(journal.events.append(row.key, new_event(f"e{n}"), None) for n in range(5)),
        return_exceptions=True,
    )
    await asyncio.sleep(0)
    journal._database._task.cancel()
    results = await pending
    assert all(isinstance(result, JournalClosed) for result in results)
    await journal.close()
    async with await Journal.open(tmp_path) as again:
        assert len(await again.events.since(row.key, 0)) in {0, 5}
