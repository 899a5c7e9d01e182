"""Turns on a session that already has many events, compared with turns on a short session.

usage: python -m benchmarks.growth [--impl google.adk] [--turns 7] [--folder PATH]

The history consists of turns of question, call, result and answer that ended an hour ago. They are
appended through the session service: in memory, and in a SQLite file. `cold` is the first turn of a
service that has just opened the file. Garbage is collected before each turn, so that a turn pays
only for its own.
"""

import argparse
import asyncio
import gc
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.report import Figures, median_ms, report
from benchmarks.workload import QUESTION, REPLY, Runtime, get_weather

SHORT, MIDDLE, LONG = 12, 5_000, 10_000
WHO = {"app_name": "bench", "user_id": "u"}
HOUR = 3600.0


def history(runtime: Runtime, author: str, events: int) -> Iterator[Any]:
    """Yield that many events of an agent, in turns of four."""
    types = runtime.types
    event = runtime.module("events").Event
    began = time.time() - HOUR - events
    for number in range(events):
        turn = number // 4
        name = {"id": f"call-{turn}", "name": "get_weather"}
        args = {"city": f"City {turn}", "day": "tomorrow"}
        role, part = [
            ("user", types.Part(text=f"{turn}: {QUESTION}")),
            ("model", types.Part(function_call=types.FunctionCall(**name, args=args))),
            (
                "user",
                types.Part(
                    function_response=types.FunctionResponse(**name, response=get_weather(**args))
                ),
            ),
            ("model", types.Part(text=REPLY)),
        ][number % 4]
        yield event(
            invocation_id=f"e-{turn}",
            author="user" if number % 4 == 0 else author,
            timestamp=began + number,
            content=types.Content(role=role, parts=[part]),
        )


async def fill(runtime: Runtime, service: Any) -> None:
    """Create a session of each size."""
    for events, scenario in ((SHORT, "text"), (LONG, "text"), (MIDDLE, "tool10")):
        session = await service.create_session(**WHO, session_id=f"s{events}")
        for event in history(runtime, f"bench_{scenario}", events):
            await service.append_event(session, event)


def runner_of(runtime: Runtime, service: Any, scenario: str) -> Any:
    agent = runtime.bench_agent(scenario)
    return runtime.module("runners").Runner(agent=agent, session_service=service, app_name="bench")


async def turn(runtime: Runtime, runner: Any, events: int) -> float:
    """Return the seconds of one turn on the session with that many events."""
    gc.collect()
    started = time.perf_counter()
    async for _ in runner.run_async(
        user_id="u", session_id=f"s{events}", new_message=runtime.question()
    ):
        pass
    return time.perf_counter() - started


async def turns(runtime: Runtime, service: Any, scenario: str, events: int, count: int) -> float:
    """Return the median milliseconds of a turn, without the first."""
    runner = runner_of(runtime, service, scenario)
    walls = [await turn(runtime, runner, events) for _ in range(count + 1)]
    return median_ms(walls[1:])


async def measure(runtime: Runtime, service: Any, name: str, count: int) -> Figures:
    """Measure turns on the sessions of all sizes, which `service` already has."""
    short = await turns(runtime, service, "text", SHORT, count)
    long = await turns(runtime, service, "text", LONG, count)
    return {
        f"growth.{name}_{SHORT}_ms": short,
        f"growth.{name}_{LONG}_ms": long,
        f"growth.{name}_times": long / short,
        f"growth.{name}_tool10_{MIDDLE}_ms": await turns(runtime, service, "tool10", MIDDLE, count),
    }


async def in_memory(runtime: Runtime, count: int) -> Figures:
    service = runtime.module("sessions").InMemorySessionService()
    await fill(runtime, service)
    return await measure(runtime, service, "memory", count)


async def in_a_file(runtime: Runtime, folder: Path, count: int) -> Figures:
    def opened() -> Any:
        module = runtime.module("sessions.sqlite_session_service")
        return module.SqliteSessionService(str(folder / "sessions.db"))

    service = opened()
    await fill(runtime, service)
    figures = await measure(runtime, service, "file", count)
    cold = [
        await turn(runtime, runner_of(runtime, opened(), "text"), LONG) for _ in range(count // 2)
    ]
    return {**figures, f"growth.file_{LONG}_cold_ms": median_ms(cold)}


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--impl", default="devui.runtime", help="package under test")
    parser.add_argument("--turns", type=int, default=7, help="measured turns per figure")
    parser.add_argument("--folder", type=Path, help="where to write; a temporary folder if absent")
    arguments = parser.parse_args()
    runtime = Runtime(arguments.impl)
    figures = await in_memory(runtime, arguments.turns)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        figures |= await in_a_file(runtime, Path(folder), arguments.turns)
    report(figures)


if __name__ == "__main__":
    asyncio.run(main())
