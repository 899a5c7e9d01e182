"""Durable appends to the journal, and the same texts written by bare sqlite3 on the same disk.

usage: python -m benchmarks.store [--seconds 1] [--folder PATH]

An event has about 1 KB and sets one state key. Every append is on disk (WAL, synchronous=FULL)
before its writer's next one begins; eight writers share commits. The bare database has one table,
with one insert and one commit per event: the most that the disk and SQLite allow.
"""

import argparse
import asyncio
import itertools
import json
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

from benchmarks.report import Figures, median_ms, report
from devui.store.journal import Journal
from devui.store.rows import NewEvent

WRITERS = 8
EVENT_BYTES = 1024
PAGE = 60
READS = 50
LARGE = 10_000


def event(number: int) -> NewEvent:
    name = f"event-{number:08}"
    return NewEvent(
        id=name,
        invocation_id="e-1",
        author="bench",
        branch=None,
        timestamp=float(number),
        kind="text",
        final=False,
        summary_json='{"kind":"text","text":"It will be sunny."}',
        data=json.dumps({"id": name, "text": "x" * (EVENT_BYTES - len(name) - 20)}),
        state_delta={"turn": number},
    )


def bare_appends(folder: Path, seconds: float) -> float:
    """Return the events per second with one insert and commit each, and nothing else."""
    with closing(sqlite3.connect(folder / "bare.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY, data TEXT) STRICT")
        started = time.perf_counter()
        for number in itertools.count(1):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO events VALUES (?, ?)", (number, event(number).data))
            connection.execute("COMMIT")
            elapsed = time.perf_counter() - started
            if elapsed > seconds:
                break
        return number / elapsed


async def appends(journal: Journal, key: int, writers: int, seconds: float) -> float:
    """Return the events per second that the writers append together, each waiting for its own."""
    row = await journal.sessions.get(key)
    numbers = itertools.count(row.events + 1 if row else 1)
    started = time.perf_counter()

    async def write() -> int:
        for count in itertools.count(1):
            await journal.events.append(key, event(next(numbers)), None)
            if time.perf_counter() - started > seconds:
                return count
        return 0

    counts = await asyncio.gather(*(write() for _ in range(writers)))
    return sum(counts) / (time.perf_counter() - started)


async def fill(journal: Journal, key: int, count: int) -> None:
    row = await journal.sessions.get(key)
    first = row.events + 1 if row else 1
    await asyncio.gather(
        *(journal.events.append(key, event(number), None) for number in range(first, count + 1))
    )


async def timed(call: Callable[[], Awaitable[object]]) -> float:
    """Return the median milliseconds of a call."""
    durations = []
    for _ in range(READS):
        started = time.perf_counter()
        await call()
        durations.append(time.perf_counter() - started)
    return median_ms(durations)


async def every_event(journal: Journal, key: int) -> int:
    return sum([len(data) async for data in journal.events.json(key)])


async def reads(journal: Journal, key: int) -> Figures:
    head = await journal.head()
    return {
        "store.page_ms": await timed(lambda: journal.events.page(key, limit=PAGE)),
        "store.old_page_ms": await timed(
            lambda: journal.events.page(key, before=head // 2, limit=PAGE)
        ),
        "store.state_ms": await timed(lambda: journal.state.at(key, head // 2)),
        "store.json_ms": await timed(lambda: every_event(journal, key)),
    }


async def measure(folder: Path, seconds: float) -> Figures:
    started = time.perf_counter()
    journal = await Journal.open(folder / "data")
    figures = {"store.open_ms": 1000 * (time.perf_counter() - started)}
    async with journal:
        one = await journal.sessions.create("bench", "u", "one", {})
        many = await journal.sessions.create("bench", "u", "many", {})
        figures["store.bare_events_s"] = bare_appends(folder, seconds)
        figures["store.events_s"] = await appends(journal, one.key, 1, seconds)
        figures[f"store.events_{WRITERS}_writers_s"] = await appends(
            journal, many.key, WRITERS, seconds
        )
        large = await journal.sessions.create("bench", "u", "large", {})
        await fill(journal, large.key, LARGE)
        figures["store.events_after_10000_s"] = await appends(journal, large.key, 1, seconds)
        return figures | await reads(journal, large.key)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="measured time per figure")
    parser.add_argument("--folder", type=Path, help="where to write; a temporary folder if absent")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        report(asyncio.run(measure(Path(folder), arguments.seconds)))


if __name__ == "__main__":
    main()
