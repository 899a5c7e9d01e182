"""Queues are bounded by bytes, not only by the number of items (R60)."""

import asyncio
from contextlib import aclosing

import pytest

from devui.debugger.events.bus import BYTES, Bus
from devui.debugger.events.feed import follow
from devui.debugger.events.news import EventCommitted, News, OutputArrived, PartialArrived
from devui.debugger.runs.inbox import BYTES as INBOX_BYTES
from devui.debugger.runs.inbox import MESSAGES, Inbox
from devui.store.journal import Journal
from devui.store.rows import NewEvent, OutputLine
from devui.wire.messages import Append, Output, Partial

pytestmark = pytest.mark.req("R60")

QUARTER = BYTES // 4
"""A number of one-byte characters; four texts of that length, with overhead, exceed the limit."""


def partial(size: int) -> Partial:
    return Partial(run="r", event="x" * size)


async def ends(reader) -> bool:
    """Whether a reader was cut off, so that its next batch is the end."""
    return await reader.batch() == []


async def test_a_reader_with_too_many_bytes_waiting_is_cut_off():
    bus = Bus[News]()
    with bus.subscribe(1) as reader:
        for _ in range(3):
            bus.publish(1, PartialArrived("r", "x" * QUARTER))
        assert len(await reader.batch()) == 3
        for _ in range(4):
            bus.publish(1, PartialArrived("r", "x" * QUARTER))
        assert await ends(reader)


async def test_a_reader_may_be_at_most_a_thousand_items_behind():
    bus = Bus[News]()
    with bus.subscribe(1) as reader:
        for behind in (1000, 1001):
            for _ in range(behind):
                bus.publish(1, PartialArrived("r", "x"))
            assert len(await reader.batch()) == (behind if behind == 1000 else 0)


async def test_bytes_are_counted_in_output_lines_and_non_ascii_text():
    bus = Bus[News]()
    lines = [OutputLine(stream="stdout", text="x" * (QUARTER // 100), at=0.0)] * 100
    with bus.subscribe(1) as reader:
        for first in range(4):
            bus.publish(1, OutputArrived("r", first, lines))
        assert await ends(reader)
    with bus.subscribe(1) as reader:
        for _ in range(4):
            bus.publish(1, PartialArrived("r", "\U0001f600" * (QUARTER // 4)))
        assert await ends(reader)


async def test_a_single_item_passes_whatever_its_size():
    bus = Bus[News]()
    large = PartialArrived("r", "x" * (3 * BYTES))
    with bus.subscribe(1) as reader:
        for _ in range(3):
            bus.publish(1, large)
            assert await reader.batch() == [large]


async def test_a_slow_reader_of_large_events_starts_over_and_misses_none(tmp_path):
    bus = Bus[News]()
    seen: list[int] = []
    rounds = 0
    async with await Journal.open(tmp_path / "data") as journal:
        session = (await journal.sessions.create("app", "u", None, {})).key

        async def write(number: int) -> None:
            text = f'"{"x" * QUARTER}"'
            event = NewEvent(f"{number}", "i", "A", None, 1.0, "text", False, "{}", text, {})
            done = await journal.events.append(session, event, None)
            bus.publish(session, EventCommitted(*await journal.events.body(session, done.number)))

        async with aclosing(follow(journal, bus, session, 0)) as batches:
            async for batch in batches:
                rounds += 1
                seen += [n.row.number for n in batch.news if isinstance(n, EventCommitted)]
                if len(seen) >= 12:
                    break
                for number in range(6):
                    await write(10 * rounds + number)
    assert seen == list(range(1, len(seen) + 1))


@pytest.mark.parametrize(
    ("size", "fitting"), [(0, MESSAGES), (INBOX_BYTES // 4, 3), (2 * INBOX_BYTES, 1)]
)
async def test_an_inbox_makes_writers_wait_when_it_is_full(size, fitting):
    inbox = Inbox[Partial]()
    messages = [partial(size) for _ in range(fitting + 2)]
    for message in messages[:fitting]:
        inbox.put_nowait(message)
    with pytest.raises(asyncio.QueueFull):
        inbox.put_nowait(messages[fitting])
    waiting = asyncio.create_task(put_all(inbox, messages[fitting:]))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not waiting.done()
    got = [await inbox.get() for _ in messages]
    assert all(one is other for one, other in zip(got, messages, strict=True))
    await waiting


async def put_all(inbox: Inbox[Partial], messages: list[Partial]) -> None:
    for message in messages:
        await inbox.put(message)


async def test_a_cancelled_get_takes_nothing_from_an_inbox():
    inbox = Inbox[Output | Append]()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(inbox.get(), 0)
    waiting = asyncio.create_task(inbox.get())
    await asyncio.sleep(0)
    waiting.cancel()
    line = Output(run="r", stream="stdout", text="x", at=0.0)
    inbox.put_nowait(line)
    await asyncio.wait({waiting})
    assert await inbox.get() is line
