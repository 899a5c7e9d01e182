"""The page of a session with 1,000 events, opened at its address with an empty cache.

usage: python -m benchmarks.long_session [--events 1000] [--runs 5]

`shown` is the time until the last event is on the screen.
"""

import argparse
import asyncio
import statistics
from pathlib import Path

from benchmarks.browser import chromium, load
from benchmarks.events import TURN, history
from benchmarks.report import report
from benchmarks.served import data_folder, serve
from devui.debugger.runs.commit import event_of
from devui.store.events import history as begin_with
from devui.store.journal import Journal
from devui.wire.events import Event


async def store(journal: Journal, app: str, name: str, events: int) -> int:
    """Store a session with that many events; return its key."""
    rows = [
        event_of(Event.of(event), final=number % TURN == TURN - 1)
        for number, event in enumerate(history(events))
    ]
    session = await journal.sessions.create(app, "u", name, {}, history=begin_with(rows))
    return session.key


async def seed(data: Path, events: int) -> int:
    """Store a session of the app `text`; return its key."""
    async with await Journal.open(data) as journal:
        return await store(journal, "text", "long", events)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    with data_folder() as data:
        key = asyncio.run(seed(data, arguments.events))
        with serve(data) as served, chromium() as browser:
            page = f"{served.url}/sessions/{key}"
            last = f"#e-{arguments.events}"
            loads = [load(browser, page, until=last) for _ in range(arguments.runs + 1)][1:]
    name = f"session{arguments.events}"
    report({f"{name}.{n}": statistics.median(each[n] for each in loads) for n in loads[0]})


if __name__ == "__main__":
    main()
