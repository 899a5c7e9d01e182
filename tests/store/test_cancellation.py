import asyncio
import sqlite3
from contextlib import closing

import pytest

from devui.store.journal import Journal
from devui.store.rows import Appended, SessionRow
from tests.store.kit import new_event


@pytest.mark.slow
@pytest.mark.req("R40")
async def test_a_cancelled_append_is_atomic(journal: Journal, session: SessionRow) -> None:
    count = 0
    for steps in [*range(60), *range(60, 1500, 7)] * 4:
        event = new_event(f"c{count}-{steps}", kept=count)
        task = asyncio.create_task(journal.events.append(session.key, event, None))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        outcome = (await asyncio.gather(task, return_exceptions=True))[0]
        assert isinstance(outcome, asyncio.CancelledError) or outcome.number == count + 1
        # Appending the event again gives the same number, whether the first append happened or not.
        again = await journal.events.append(session.key, event, None)
        assert again.number == count + 1
        count += 1
    rows = await journal.events.since(session.key, 0)
    assert [row.number for row in rows] == list(range(1, count + 1))
    assert await journal.state.merged(session.key) == {"kept": count - 1}
    assert not await journal._database._writer.call(lambda connection: connection.in_transaction)


@pytest.mark.req("R40")
async def test_cancelled_callers_of_a_full_queue_lose_no_events_of_others(
    journal: Journal, session: SessionRow
) -> None:
    tasks = [
        asyncio.create_task(journal.events.append(session.key, new_event(f"e{n}"), None))
        for n in range(1000)
    ]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    acknowledged = {f"e{n}" for n, done in enumerate(results) if isinstance(done, Appended)}
    assert acknowledged >= {f"e{n}" for n in range(1, 1000, 2)}
    rows = await journal.events.since(session.key, 0)
    assert acknowledged <= {row.id for row in rows}
    assert [row.number for row in rows] == list(range(1, len(rows) + 1))
    assert (await journal.events.append(session.key, new_event("last"), None)).number == (
        len(rows) + 1
    )


@pytest.mark.req("R40")
async def test_the_queue_stays_bounded_when_its_callers_are_cancelled(
    journal: Journal, session: SessionRow
) -> None:
    with closing(sqlite3.connect(journal.path / "journal.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        tasks = []
        for wave in range(5):
            events = [new_event(f"w{wave}e{number}") for number in range(300)]
            tasks += [
                asyncio.create_task(journal.events.append(session.key, event, None))
                for event in events
            ]
            for _ in range(5):
                await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            for _ in range(5):
                await asyncio.sleep(0)
        assert len(journal._database._waiting) <= 256
        other.execute("ROLLBACK")
    await asyncio.gather(*tasks, return_exceptions=True)
    await journal.events.append(session.key, new_event("last"), None)
    rows = await journal.events.since(session.key, 0)
    assert len(rows) <= 256 + 1


@pytest.mark.req("R40")
async def test_a_cancelled_read_does_not_affect_the_next_one(
    journal: Journal, session: SessionRow
) -> None:
    await journal.events.append(session.key, new_event("e1"), None)
    for steps in range(20):
        task = asyncio.create_task(journal.events.since(session.key, 0))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        done = await journal.events.append(session.key, new_event(f"r{steps}"), None)
        assert (await journal.events.page(session.key, limit=1))[0].seq == done.seq
