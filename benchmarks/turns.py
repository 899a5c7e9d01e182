"""Turns of the runtime alone: the Runner with sessions in memory, no server, no disk.

usage: python -m benchmarks.turns [--impl google.adk] [--seconds 1]

Every turn has its own session, so that history doesn't grow. `--impl` selects another package for
the same work, which needs an interpreter that has it.
"""

import argparse
import asyncio
import gc
import time

from benchmarks.report import Figures, median_ms, report
from benchmarks.workload import SCENARIOS, Runtime

WARM_UP = 3


async def turn(runtime: Runtime, runner: object, *, streamed: bool) -> tuple[float, int]:
    """Run one turn on a new session; return its seconds and how many events it had."""
    service, app = runner.session_service, runner.app_name
    session = await service.create_session(app_name=app, user_id="u")
    started = time.perf_counter()
    events = 0
    async for _ in runner.run_async(
        user_id="u",
        session_id=session.id,
        new_message=runtime.question(),
        run_config=runtime.streamed if streamed else runtime.whole,
    ):
        events += 1
    return time.perf_counter() - started, events


async def measure(runtime: Runtime, name: str, seconds: float) -> float:
    """Return the median milliseconds of a turn."""
    scenario = SCENARIOS[name]
    runner = runtime.runner(agent=runtime.bench_agent(name), app_name="bench")
    for _ in range(WARM_UP):
        await turn(runtime, runner, streamed=scenario.chunks > 0)
    gc.collect()
    walls: list[float] = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or len(walls) < 5:
        wall, events = await turn(runtime, runner, streamed=scenario.chunks > 0)
        if events != scenario.events:
            raise RuntimeError(f"{name}: {events} events, {scenario.events} expected")
        walls.append(wall)
    return median_ms(walls)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--impl", default="devui.runtime", help="package under test")
    parser.add_argument("--seconds", type=float, default=1.0, help="measured time per scenario")
    arguments = parser.parse_args()
    runtime = Runtime(arguments.impl)
    figures: Figures = {}
    for name in [name for name, scenario in SCENARIOS.items() if not scenario.pause]:
        figures[f"turn.{name}_ms"] = await measure(runtime, name, arguments.seconds)
    report(figures)


if __name__ == "__main__":
    asyncio.run(main())
