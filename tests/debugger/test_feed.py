"""A reader of a session misses nothing and sees nothing twice, wherever it starts (R58, R60)."""

import asyncio
import itertools
from contextlib import aclosing

import pytest

from devui.debugger.events import bus as buses
from devui.debugger.events import feed
from devui.debugger.events.bus import Bus
from devui.debugger.events.feed import TooFarBehind, follow
from devui.debugger.events.news import (
    EventCommitted,
    News,
    PartialArrived,
    PositionChanged,
    RunChanged,
    SessionChanged,
)
from devui.store.journal import Journal
from devui.store.rows import NewEvent, RunRow

numbers = itertools.count(1)


@pytest.fixture
async def journal(tmp_path):
    async with await Journal.open(tmp_path / "data") as journal:
        yield journal


@pytest.fixture
def bus():
    return Bus[News]()


class Writer:
    """Commits and publishes events as the driver of a run does."""

    def __init__(self, journal: Journal, bus: Bus[News], session: int) -> None:
        self.journal, self.bus, self.session = journal, bus, session

    async def write(self, run: str | None = None) -> int:
        event_id = str(next(numbers))
        event = NewEvent(event_id, "i", "A", None, 1.0, "text", False, "{}", "{}", {})
        done = await self.journal.events.append(self.session, event, run)
        body = await self.journal.events.body(self.session, done.number)
        self.bus.publish(self.session, EventCommitted(*body))
        return done.number


@pytest.fixture
async def writer(journal, bus):
    session = await journal.sessions.create("app", "u", None, {})
    return Writer(journal, bus, session.key)


async def read(journal, bus, session: int, after: int, until: int) -> tuple[list[int], int]:
    """Return the event numbers up to `until`, and the seq that the reader has reached."""
    seen: list[int] = []
    async with aclosing(follow(journal, bus, session, after)) as batches:
        async for batch in batches:
            seen += [n.row.number for n in batch.news if isinstance(n, EventCommitted)]
            if seen and seen[-1] >= until:
                return seen, batch.seq
    raise AssertionError("the feed ended early")


@pytest.mark.req("R58")
async def test_a_concurrent_reader_sees_every_event_once_and_in_order(journal, bus, writer):
    async def write_all() -> None:
        for _ in range(300):
            await writer.write()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(write_all())
        readers = [tasks.create_task(read(journal, bus, writer.session, 0, 300)) for _ in range(3)]
    for reader in readers:
        assert reader.result()[0] == list(range(1, 301))


@pytest.mark.req("R58")
async def test_a_reader_that_reconnects_resumes_where_it_stopped(journal, bus, writer):
    async def write_all() -> None:
        for _ in range(120):
            await writer.write()

    async def read_in_pieces() -> list[int]:
        seen: list[int] = []
        after = 0
        while not seen or seen[-1] < 120:
            piece, after = await read(journal, bus, writer.session, after, len(seen) + 1)
            seen += piece
        return seen

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(write_all())
        reading = tasks.create_task(read_in_pieces())
    assert reading.result() == list(range(1, 121))


@pytest.mark.req("R60")
async def test_a_slow_reader_starts_over_and_misses_nothing(journal, bus, writer, monkeypatch):
    monkeypatch.setattr(buses, "CAPACITY", 5)
    seen: list[int] = []
    async with aclosing(follow(journal, bus, writer.session, 0)) as batches:
        async for batch in batches:
            seen += [n.row.number for n in batch.news if isinstance(n, EventCommitted)]
            if len(seen) >= 60:
                break
            for _ in range(20):
                await writer.write()
    assert seen == list(range(1, len(seen) + 1))


async def test_a_slow_reader_learns_that_the_session_was_deleted(journal, bus, writer, monkeypatch):
    monkeypatch.setattr(buses, "CAPACITY", 5)
    async with aclosing(follow(journal, bus, writer.session, 0)) as batches:
        assert (await anext(batches)).begins
        for _ in range(20):
            await writer.write()
        await journal.sessions.delete(writer.session)
        bus.publish(writer.session, SessionChanged(None))
        batch = await anext(batches)
    assert (batch.news, batch.begins) == ([SessionChanged(None)], True)


async def test_events_and_runs_come_in_the_order_of_the_journal(journal, bus, writer):
    run = await journal.runs.start("r", writer.session)
    await writer.write("r")
    done = await journal.runs.change("r", "done")
    async with aclosing(follow(journal, bus, writer.session, run.seq)) as batches:
        batch = await anext(batches)
    kinds = [type(news) for news in batch.news]
    assert kinds.index(EventCommitted) < kinds.index(RunChanged)
    assert batch.seq == done.seq


@pytest.mark.req("R58")
async def test_a_reader_that_joins_a_busy_session_gets_its_title(journal, bus, writer):
    async def write_on() -> None:
        while True:
            await writer.write()

    writing = [asyncio.create_task(write_on()) for _ in range(4)]
    try:
        for title in map(str, range(20)):
            before = await journal.head()
            await journal.sessions.rename(writer.session, title)
            async with aclosing(follow(journal, bus, writer.session, before)) as batches:
                first = await anext(batches)
            titles = [news.session.title for news in first.news if isinstance(news, SessionChanged)]
            assert titles == [title]
    finally:
        for each in writing:
            each.cancel()
        await asyncio.wait(writing)


async def test_partial_events_are_passed_on_and_not_replayed(journal, bus, writer):
    partial = PartialArrived("r", "{}")
    async with aclosing(follow(journal, bus, writer.session, 0)) as batches:
        await anext(batches)
        bus.publish(writer.session, partial)
        assert (await anext(batches)).news == [partial]
    async with aclosing(follow(journal, bus, writer.session, 0)) as batches:
        assert partial not in (await anext(batches)).news


async def test_a_reader_that_is_too_far_behind_must_reload_the_page(
    journal, bus, writer, monkeypatch
):
    monkeypatch.setattr(feed, "CATCH_UP", 10)
    for _ in range(11):
        await writer.write()
    with pytest.raises(TooFarBehind):
        await anext(follow(journal, bus, writer.session, 0))


async def test_closing_the_bus_ends_its_readers(journal, bus, writer):
    async with aclosing(follow(journal, bus, writer.session, 0)) as batches:
        await anext(batches)
        assert bus.readers(writer.session) == 1
        bus.close()
        assert [batch async for batch in batches] == []
    assert bus.readers(writer.session) == 0


@pytest.mark.parametrize("patience", [0.0, 30.0])
async def test_a_patient_reader_gets_a_new_run_together_with_its_first_event(
    journal, bus, writer, patience
):
    async with aclosing(follow(journal, bus, writer.session, 0, patience=patience)) as batches:
        await anext(batches)
        following = asyncio.ensure_future(anext(batches))
        bus.publish(writer.session, RunChanged(await start(journal, writer)))
        if patience:
            await asyncio.wait({following}, timeout=0.05)
            assert not following.done(), "it waits for what is said in the run"
            await writer.write("run")
        kinds = [type(item) for item in (await following).news]
    assert kinds == [RunChanged, EventCommitted][: 2 if patience else 1]


async def test_a_patient_reader_does_not_wait_forever(journal, bus, writer):
    async with aclosing(follow(journal, bus, writer.session, 0, patience=0.01)) as batches:
        await anext(batches)
        run = await start(journal, writer)
        bus.publish(writer.session, RunChanged(run))
        assert (await anext(batches)).news == [RunChanged(run)]


async def start(journal, writer) -> RunRow:
    return await journal.runs.start("run", writer.session, message="{}")


async def test_a_patient_reader_gets_a_new_position_at_once(journal, bus, writer):
    async with aclosing(follow(journal, bus, writer.session, 0, patience=30)) as batches:
        await anext(batches)
        run = RunChanged(await start(journal, writer))
        held = PositionChanged("run", 1)
        bus.publish(writer.session, run)
        bus.publish(writer.session, held)
        assert (await asyncio.wait_for(anext(batches), 10)).news == [run, held]


async def test_closing_the_bus_ends_a_patient_reader_at_once(journal, bus, writer):
    async with aclosing(follow(journal, bus, writer.session, 0, patience=30)) as batches:
        await anext(batches)
        bus.publish(writer.session, RunChanged(await start(journal, writer)))
        bus.close()
        async with asyncio.timeout(10):
            assert len([batch async for batch in batches]) == 1
