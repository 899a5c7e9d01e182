"""How long one callback holds the server's event loop, with many readers and large sessions.

usage: python -m benchmarks.loop_holds [--scenario NAME ...] [--stacks]

In milliseconds: the most CPU time of one callback; `gil`, that of all threads while another one
waited for its turn; `gc`, that of one garbage collection (`loop_watch`); and `health`, the longest
response to another client meanwhile, by the clock.
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.long_session import START, history
from benchmarks.report import report
from benchmarks.served import ROOT, data_folder
from devui.debugger.runs.commit import event_of
from devui.store.journal import Journal
from devui.wire.events import Event

PAGES = 60
SECRET = "tok-0123456789-abcdefghij"
TICKER = """
import asyncio
from google.genai import types
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event

class Ticker(BaseAgent):
    async def _run_async_impl(self, ctx):
        for number in range(150):
            await asyncio.sleep(0.02)
            part = types.Part(text=f"**tick** {number} " * 10)
            yield Event(
                invocation_id=ctx.invocation_id,
                author=self.name,
                content=types.Content(role="model", parts=[part]),
            )

root_agent = Ticker(name="ticker")
"""


@dataclass
class Stage:
    """A served journal with the sessions of `SESSIONS`, and their keys by name."""

    client: httpx2.AsyncClient
    keys: dict[str, int]


def large_json(size: int) -> str:
    item = {"name": "n" * 20, "values": [1, 2.5, None, True], "text": "some words " * 5}
    return json.dumps({f"key {n}": item for n in range(size // len(json.dumps(item)))})


def answer_steps(texts: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "id": f"event-{number}",
            "invocationId": f"e-{number // 2}",
            "author": "ticker" if number % 2 else "user",
            "timestamp": START + number,
            "content": {"role": "model" if number % 2 else "user", "parts": [{"text": text}]},
            "actions": {},
        }
        for number, text in enumerate(texts)
    ]


def call_steps(result: Any) -> list[dict[str, Any]]:
    """Return the events of a turn whose call has this result."""
    events = history(4)
    events[2]["content"]["parts"][0]["functionResponse"]["response"] = {"result": result}
    return events


SESSIONS: dict[str, Callable[[], tuple[dict[str, Any], list[dict[str, Any]]]]] = {
    "long": lambda: ({}, history(2000)),
    "chat": lambda: ({}, answer_steps([f"**{n}** says `code` " * 20 for n in range(2000)])),
    "secret": lambda: ({}, answer_steps([f"It is {SECRET}, and {n} " * 60 for n in range(200)])),
    "state": lambda: ({f"key {n}": {"n": n, "t": "x" * 50} for n in range(10_000)}, history(8)),
    "heavy_state": lambda: ({"large": json.loads(large_json(5_000_000))}, history(8)),
    "json_text": lambda: ({}, answer_steps(["give", large_json(5_000_000)])),
    "json_result": lambda: ({}, call_steps(large_json(5_000_000))),
    "object_result": lambda: ({}, call_steps(json.loads(large_json(5_000_000)))),
}


async def seed(data: Path) -> dict[str, int]:
    keys = {}
    async with await Journal.open(data) as journal:
        for name, make in SESSIONS.items():
            state, events = make()
            session = await journal.sessions.create("ticker", "u", name, state)
            for number, event in enumerate(events):
                row = event_of(Event.of(event), final=number % 4 == 3)
                await journal.events.append(session.key, row, None)
            keys[name] = session.key
    return keys


async def read_stream(stage: Stage, page: str) -> None:
    """Read a page's stream until it is cancelled."""
    match = re.search(r'(/sessions/\d+/stream[^"]*)"', page)
    assert match is not None
    path = match[1].replace("&amp;", "&")
    async with stage.client.stream("GET", path) as answer:
        async for _ in answer.aiter_bytes():
            pass


@contextlib.asynccontextmanager
async def open_pages(stage: Stage, key: int, count: int) -> AsyncIterator[None]:
    async def look() -> None:
        page = await get(stage, f"/sessions/{key}")
        await read_stream(stage, page)

    tasks = [asyncio.create_task(look()) for _ in range(count)]
    await asyncio.sleep(0)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        for each in done:
            if not isinstance(each, asyncio.CancelledError):
                print("page:", repr(each), file=sys.stderr)


async def get(stage: Stage, path: str) -> str:
    answer = await stage.client.get(path, headers={"Accept": "text/html"})
    assert answer.status_code == 200, (path, answer.status_code, answer.text[:300])
    return answer.text


async def say(stage: Stage, session: str) -> None:
    body = {"appName": "ticker", "userId": "u", "sessionId": session}
    body["newMessage"] = {"role": "user", "parts": [{"text": "go"}]}
    answer = await stage.client.post("/run", json=body, headers={"Accept": "application/json"})
    assert answer.status_code == 200, answer.text[:300]


async def readers(stage: Stage) -> None:
    async with open_pages(stage, stage.keys["long"], PAGES):
        await asyncio.sleep(2)
        await say(stage, "long")


async def first_loads(stage: Stage) -> None:
    await asyncio.gather(*(get(stage, f"/sessions/{stage.keys['long']}") for _ in range(PAGES)))


def views(name: str, event: int) -> Callable[[Stage], Awaitable[None]]:
    async def look(stage: Stage) -> None:
        key = stage.keys[name]
        base = f"/sessions/{key}"
        for tab in ("event", "raw", "state", "request", "trace"):
            await get(stage, f"{base}?event={event}&tab={tab}")
        for path in (base, f"{base}?filter=words", f"{base}/export", f"/api{base}/export"):
            await get(stage, path)
        for path in (f"/api{base}/events", f"/api{base}/events/{event}"):
            await get(stage, path)
        await get(stage, f"/apps/ticker/users/u/sessions/{name}")

    return look


SCENARIOS: dict[str, Callable[[Stage], Awaitable[None]]] = {
    "readers": readers,
    "first_loads": first_loads,
    "long": views("long", 1000),
    "chat": views("chat", 1000),
    "secret": views("secret", 100),
    "state": views("state", 3),
    "heavy_state": views("heavy_state", 3),
    "json_text": views("json_text", 2),
    "json_result": views("json_result", 3),
    "object_result": views("object_result", 3),
}


@contextlib.contextmanager
def watched(data: Path, agents: Path) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """Start a watched server; yield its origin and a function that returns its new figures."""
    file = data / "loop.json"
    command = [sys.executable, "-m", "benchmarks.loop_watch", str(file), str(agents)]
    command += ["--no-browser", "--no-auth", "--port", "0", "--data-dir", str(data)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, cwd=data, env=environment, stdout=subprocess.PIPE, text=True
    ) as child:

        def figures() -> dict[str, Any]:
            file.unlink(missing_ok=True)
            child.send_signal(signal.SIGUSR1)
            while not file.exists():
                time.sleep(0.05)
            return dict(json.loads(file.read_text()))

        try:
            link = next(
                filter(None, (re.search(r"http://[\d.]+:\d+", each) for each in child.stdout or []))
            )
            yield link[0], figures
        finally:
            child.terminate()
            child.wait(timeout=60)


async def play(url: str, keys: dict[str, int], name: str) -> float:
    """Run a scenario; return the longest response to another client meanwhile, in milliseconds."""
    worst = 0.0

    async def others(client: httpx2.AsyncClient) -> None:
        nonlocal worst
        while True:
            begun = time.perf_counter()
            await client.get("/health")
            worst = max(worst, 1000 * (time.perf_counter() - begun))
            await asyncio.sleep(0.01)

    limits = httpx2.Limits(max_connections=None)
    async with (
        httpx2.AsyncClient(base_url=url, timeout=300, limits=limits) as client,
        httpx2.AsyncClient(base_url=url, timeout=300) as other,
    ):
        task = asyncio.create_task(others(other))
        await SCENARIOS[name](Stage(client, keys))
        task.cancel()
    return round(worst, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", action="append", choices=SCENARIOS)
    parser.add_argument("--stacks", action="store_true", help="show where the loop was met")
    arguments = parser.parse_args()
    figures_of = {}
    with data_folder() as folder:
        data, agents = folder / "data", folder / "agents"
        (agents / "ticker").mkdir(parents=True)
        (agents / "ticker" / "agent.py").write_text(TICKER)
        (agents / ".env").write_text(f"A_TOKEN={SECRET}\n")
        keys = asyncio.run(seed(data))
        with watched(data, agents) as (url, figures):
            asyncio.run(play(url, keys, "first_loads"))
            figures()
            for name in arguments.scenario or SCENARIOS:
                worst = asyncio.run(play(url, keys, name))
                each = figures()
                longest = each["longest"]
                figures_of[f"loop.{name}_ms"] = longest[0]["ms"] if longest else 0.0
                figures_of[f"loop.{name}_gil_ms"] = each["waited_ms"]
                figures_of[f"loop.{name}_gc_ms"] = each["collected_ms"]
                figures_of[f"loop.{name}_health_ms"] = worst
                if arguments.stacks:
                    print(
                        f"== {name}: {each['callbacks']} callbacks, waited {each['waited_ms']} ms"
                    )
                    for hold in longest:
                        print(hold["ms"], "\n    ".join(["", *hold["stack"]]))
    report(figures_of)


if __name__ == "__main__":
    main()
