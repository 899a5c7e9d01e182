"""The debugger's cost for a run that nobody debugs: CPU time of turns with and without it.

usage: python -m benchmarks.gates [--seconds 4] [--impl devui.runtime]

The same turns run on the runtime alone in three alternating ways, each with its own runner: bare,
with a worker's gates, and with all its instruments, including the recorder. Nothing is armed, and
what the instruments send is discarded. A ratio is the median over adjacent turns, so that it
doesn't change when the machine gets slower or faster.
"""

import argparse
import asyncio
import gc
import io
import itertools
import os
import statistics
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.report import Figures, median_ms, report
from benchmarks.turns import WARM_UP, turn
from benchmarks.workload import SCENARIOS, Runtime
from devui.wire.messages import StartRun
from devui.worker.engines.choice import kit_of
from devui.worker.instruments.gates import GatesAfter, GatesBefore
from devui.worker.instruments.instruments import Instruments
from devui.worker.link import Link
from devui.worker.output import current_run

Join = Callable[[Instruments, Any], None]

MEASURED = ("text", "tool10", "stream200")


@dataclass(frozen=True, slots=True)
class Way:
    """A runner with or without instruments."""

    runtime: Runtime
    runner: Any
    instruments: Instruments
    streamed: bool

    async def turn(self) -> float:
        """Run one turn as a worker does; return its CPU seconds."""
        run = uuid.uuid4().hex
        start = StartRun(run=run, user="u", session="s", session_key=1, head=0, shared="{}")
        began = time.process_time()
        current_run.set(run)
        self.instruments.begin(start)
        await turn(self.runtime, self.runner, streamed=self.streamed)
        self.instruments.forget(run)
        return time.process_time() - began


def way(runtime: Runtime, name: str, link: Link, join: Join) -> Way:
    """Return a runner of a scenario, which `join` connects with the instruments."""
    agent = runtime.bench_agent(name)
    runner = runtime.runner(agent=agent, app_name="bench")
    instruments = Instruments(link, kit_of(agent))
    join(instruments, runner)
    return Way(runtime, runner, instruments, streamed=SCENARIOS[name].chunks > 0)


def bare(instruments: Instruments, runner: Any) -> None:
    """Add nothing."""


def gated(instruments: Instruments, runner: Any) -> None:
    """Add only the gates, disabled."""
    after, before = GatesAfter(instruments.gates), GatesBefore(instruments.gates)
    chain = instruments.kit.chain(runner, [after], [before], [])
    chain.set_disabled([after.name, before.name])


def whole(instruments: Instruments, runner: Any) -> None:
    """Add everything that a worker has."""
    instruments.join(runner)


async def measure(runtime: Runtime, name: str, link: Link, seconds: float) -> Figures:
    """Return the CPU milliseconds of a bare turn, and the other ways' ratios to it."""
    ways = [way(runtime, name, link, join) for join in (bare, gated, whole)]
    for each in ways * WARM_UP:
        await each.turn()
    gc.collect()
    rounds: list[list[float]] = []
    orders = itertools.cycle(itertools.permutations(range(len(ways))))
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or len(rounds) < 5:
        # All orders take turns, so that no way always follows the same one.
        order = next(orders)
        took = {index: await ways[index].turn() for index in order}
        rounds.append([took[index] for index in range(len(ways))])
    return {
        f"gates.{name}_bare_ms": median_ms(took[0] for took in rounds),
        f"gates.{name}_gates_ratio": ratio(rounds, 1),
        f"gates.{name}_all_ratio": ratio(rounds, 2),
    }


def ratio(rounds: list[list[float]], index: int) -> float:
    """Return the median ratio of a way's CPU time to that of a bare turn."""
    return statistics.median(took[index] / took[0] for took in rounds)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="measured time per scenario")
    parser.add_argument("--impl", default="devui.runtime", help="a package with ADK's names")
    arguments = parser.parse_args()
    runtime = Runtime(arguments.impl)
    figures: Figures = {}
    nowhere = os.open(os.devnull, os.O_WRONLY)
    link = Link(io.BytesIO(), nowhere, asyncio.get_running_loop())
    for name in MEASURED:
        figures |= await measure(runtime, name, link, arguments.seconds)
    os.close(nowhere)
    report(figures)


if __name__ == "__main__":
    asyncio.run(main())
