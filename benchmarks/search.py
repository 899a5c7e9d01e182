"""Search over many sessions: response times, indexing speed and disk space.

usage: python -m benchmarks.search [--sessions 10000] [--events 100] [--folder PATH]

Sessions hold questions, calls, results and answers in words drawn from 20,000, with frequencies
like those of a language. The journal is written and indexed first, which takes some minutes for a
million events; with `--folder`, it is kept there and reused.
"""

import argparse
import asyncio
import itertools
import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.report import Figures, median_ms, report
from devui.debugger.events.prices import Prices
from devui.debugger.predicates.filters import Filter
from devui.debugger.runs.commit import event_of
from devui.debugger.search.hits import find
from devui.debugger.search.index import SearchIndex
from devui.store.events import history
from devui.store.journal import Journal
from devui.wire.events import Event

REPEATS = 20
TOOLS = ("search_flights", "book_flight", "weather", "send_mail", "read_file")
LETTERS = "etaoinshrdlucmfwypvbgkqjxz"
WORDS = [
    "".join(random.Random(number).choices(LETTERS, k=3 + number % 8)) for number in range(20_000)
]
QUERIES = {
    "rare_word": WORDS[-1],
    "common_word": WORDS[5],
    "beginning": WORDS[2][:3],
    "two_words": f"{WORDS[3]} {WORDS[7]}",
    "nothing": "absent",
    "tool_errors": "tool:book_flight is:error",
    "key": f"key:plan {WORDS[9]}",
}


def contents(draw: random.Random) -> Iterator[dict[str, Any]]:
    """Yield events in ADK's form, without ids and without end."""
    weights = list(itertools.accumulate(1 / (number + 1) for number in range(len(WORDS))))

    def text(count: int) -> str:
        return " ".join(draw.choices(WORDS, cum_weights=weights, k=count))

    while True:
        tool = draw.choice(TOOLS)
        call = {"id": "c", "name": tool, "args": {"query": text(4)}}
        result: dict[str, Any] = {"error": text(6)} if draw.random() < 0.05 else {"rows": text(40)}
        answer = {"id": "c", "name": tool, "response": result}
        yield {"author": "user", "content": {"role": "user", "parts": [{"text": text(12)}]}}
        yield {"author": "planner", "content": {"parts": [{"functionCall": call}]}}
        yield {
            "author": "planner",
            "content": {"parts": [{"functionResponse": answer}]},
            "actions": {"stateDelta": {"plan": text(3)}},
        }
        yield {"author": "planner", "content": {"parts": [{"text": text(30)}]}}


async def fill(journal: Journal, sessions: int, events: int) -> None:
    """Add sessions of `events` events each until there are `sessions`."""
    texts_in_turn = contents(random.Random(7))
    for _ in range(sessions - len(await journal.sessions.list("bench"))):
        texts = [
            json.dumps(
                {"id": f"e{n}", "invocationId": "i", "timestamp": float(n), **next(texts_in_turn)}
            )
            for n in range(events)
        ]
        history_events = history(event_of(Event(text), final=False) for text in texts)
        await journal.sessions.create("bench", "user", None, {}, history=history_events)


async def measure(folder: Path, sessions: int, events: int) -> Figures:
    async with await Journal.open(folder) as journal:
        await fill(journal, sessions, events)
        is_new = await journal.search.progress() < (1, 2)
    before = (folder / "journal.db").stat().st_size
    figures: Figures = {}
    async with await Journal.open(folder) as journal, SearchIndex(journal) as index:
        started = time.perf_counter()
        await index.catch_up(patience=36_000)
        seconds = time.perf_counter() - started
        prices = Prices.load(folder)
        for name, text in QUERIES.items():
            filter_ = Filter.read(text)
            times = []
            for _ in range(REPEATS):
                started = time.perf_counter()
                await index.catch_up()
                await find(journal, filter_, prices)
                times.append(time.perf_counter() - started)
            figures[f"search.{name}_ms"] = median_ms(times)
    if is_new:
        size = (folder / "journal.db").stat().st_size
        figures["search.indexed_per_s"] = sessions * events / seconds
        figures["search.index_bytes_per_event"] = (size - before) / (sessions * events)
        figures["search.journal_bytes_per_event"] = before / (sessions * events)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=100)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.chmod(0o700)
        report(asyncio.run(measure(folder, options.sessions, options.events)))


if __name__ == "__main__":
    main()
