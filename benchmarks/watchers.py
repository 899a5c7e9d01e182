"""How late the events of a run reach those who watch it: programs through the API, and pages.

usage: python -m benchmarks.watchers [--programs 100] [--pages 20]

A run commits fifty events a second for ten seconds. A delay is the time from when the agent makes
an event to when a reader in this process receives it, as JSON or as a row of HTML; the commit to
the journal is part of it. A page that gets more than 80 events at once has rows for the last ones.
"""

import argparse
import asyncio
import re
import time
from dataclasses import dataclass, field
from statistics import quantiles
from urllib.parse import urlsplit

from benchmarks.agents.paced.agent import PER_SECOND, SECONDS
from benchmarks.report import Figures, report
from benchmarks.rest import Client
from benchmarks.served import data_folder, serve

APP = "paced"
LAST = b".last"
EVENTS = PER_SECOND * SECONDS
_LATEST = 60
"""Seconds after the run's end by which everything must have arrived."""


@dataclass
class Watcher:
    """One reader of a stream."""

    path: str
    pattern: re.Pattern[bytes]
    """Matches an event; the first group is the time it was made."""
    delays: dict[bytes, float] = field(default_factory=dict)
    """Delays in seconds, by the time the event was made."""
    repeats: int = 0

    async def watch(self, host: str, port: int) -> None:
        """Read until the last event has arrived."""
        reader, writer = await asyncio.open_connection(host, port, limit=2**24)
        writer.write(f"GET {self.path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        if b" 200 " not in (status := await reader.readline()):
            raise RuntimeError(f"GET {self.path}: {status!r}")
        rest = b""
        is_over = False
        while not is_over:
            if not (data := await reader.read(2**16)):
                raise RuntimeError(f"{self.path} ended after {len(self.delays)} events")
            now = time.time()
            text = rest + data
            is_over = LAST in text
            end = 0
            for match in self.pattern.finditer(text):
                end = match.end()
                self.repeats += match[1] in self.delays
                self.delays.setdefault(match[1], now - float(match[1]))
            rest = text[max(end, len(text) - 200) :]
        writer.close()


async def watch_all(url: str, client: Client, watchers: list[Watcher], key: int) -> None:
    """Start watching and a run, and wait until every watcher has seen everything."""
    place = urlsplit(url)
    async with asyncio.timeout(SECONDS + _LATEST), asyncio.TaskGroup() as tasks:
        for watcher in watchers:
            tasks.create_task(watcher.watch(place.hostname or "", place.port or 80))
        await asyncio.sleep(1)
        await asyncio.to_thread(client.start, key)


def measure(url: str, name: str, count: int, path: str, pattern: bytes) -> Figures:
    """Return percentiles of the delays of `count` readers of one run, in milliseconds."""
    client = Client(url, APP)
    key = client.key_of(client.new_session())
    watchers = [Watcher(path.format(key=key), re.compile(pattern)) for _ in range(count)]
    asyncio.run(watch_all(url, client, watchers, key))
    client.close()
    if doubled := sum(watcher.repeats for watcher in watchers):
        raise RuntimeError(f"{doubled} events came twice")
    if pattern == JSON_EVENT and (lost := sum(EVENTS - len(each.delays) for each in watchers)):
        raise RuntimeError(f"{lost} events did not come")
    cuts = quantiles([delay for each in watchers for delay in each.delays.values()], n=100)
    return {f"watchers.{name}_p50_ms": 1000 * cuts[49], f"watchers.{name}_p99_ms": 1000 * cuts[98]}


JSON_EVENT = rb'"text":"t=(\d+\.\d+)\.(?:last)?","edits"'
ROW = rb'class="what"[^>]*>t=(\d+\.\d+)\.'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--pages", type=int, default=20)
    options = parser.parse_args()
    figures: Figures = {}
    with data_folder() as data, serve(data) as served:
        url = served.url
        program = "/api/sessions/{key}/stream"
        page = "/sessions/{key}/stream?after=0"
        figures |= measure(url, "program", 1, program, JSON_EVENT)
        figures |= measure(url, "programs", options.programs, program, JSON_EVENT)
        figures |= measure(url, "page", 1, page, ROW)
        figures |= measure(url, "pages", options.pages, page, ROW)
    report(figures)


if __name__ == "__main__":
    main()
