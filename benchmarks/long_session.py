"""The page of a session with 1,000 events, opened by its address with an empty cache.

usage: python -m benchmarks.long_session [--events 1000] [--runs 5]

The events are turns of question, call, result and answer, about half a kilobyte each. `shown` is
when the last event is on the screen.
"""

import argparse
import asyncio
import statistics
from pathlib import Path
from typing import Any

from benchmarks.browser import chromium, load
from benchmarks.report import report
from benchmarks.served import data_folder, serve
from benchmarks.workload import QUESTION, REPLY, get_weather
from devui.debugger.runs.commit import event_of
from devui.store.journal import Journal
from devui.wire.events import Event

START = 1_700_000_000.0


def contents(turn: int) -> list[tuple[str, dict[str, Any]]]:
    """Author and content of the four events of a turn."""
    call = {"id": f"call-{turn}", "name": "get_weather"}
    args = {"city": f"City {turn}", "day": "tomorrow"}
    parts = [
        ("user", "user", {"text": f"{turn}: {QUESTION}"}),
        ("bench_text", "model", {"functionCall": {**call, "args": args}}),
        ("bench_text", "user", {"functionResponse": {**call, "response": get_weather(**args)}}),
        ("bench_text", "model", {"text": f"**Day {turn}**: {REPLY}"}),
    ]
    return [(author, {"role": role, "parts": [part]}) for author, role, part in parts]


def history(events: int) -> list[dict[str, Any]]:
    """A session's events in ADK's wire form."""
    every = [entry for turn in range(-(-events // 4)) for entry in contents(turn)]
    return [
        {
            "id": f"event-{number}",
            "invocationId": f"e-{number // 4}",
            "author": author,
            "timestamp": START + number,
            "content": content,
            "actions": {"stateDelta": {"turn": number // 4} if number % 4 == 2 else {}},
        }
        for number, (author, content) in enumerate(every[:events])
    ]


async def seed(data: Path, events: int) -> int:
    """Store a session of the app `text`; returns its key."""
    journal = await Journal.open(data)
    session = await journal.sessions.create("text", "u", "long", {})
    for number, event in enumerate(history(events)):
        row = event_of(Event.of(event), final=number % 4 == 3)
        await journal.events.append(session.key, row, None)
    await journal.close()
    return session.key


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
