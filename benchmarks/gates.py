"""What the debugger costs a run that nobody debugs: CPU time of turns with and without it.

usage: python -m benchmarks.gates [--seconds 4]

The same turns of the runtime alone are run in three ways that alternate, each with a runner of its
own: bare, with the gates of a worker, and with all its instruments, the recorder included. Nothing
is armed, and what the instruments tell goes nowhere. A ratio is the median over turns that were
neighbours, so that a machine that grows slower or faster changes nothing.
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

from benchmarks.report import Figures, median_ms, report
from benchmarks.turns import WARM_UP, turn
from benchmarks.workload import SCENARIOS, Runtime
from devui.runtime.plugins.plugin_manager import PluginManager
from devui.wire.messages import StartRun
from devui.worker.gates import GatesAfter, GatesBefore
from devui.worker.instruments import Instruments
from devui.worker.link import Link
from devui.worker.output import current_run

Around = Callable[[PluginManager], PluginManager]

MEASURED = ("text", "tool10", "stream200")


@dataclass(frozen=True, slots=True)
class Way:
    """A runner with or without instruments."""

    runner: object
    instruments: Instruments
    streamed: bool

    async def turn(self) -> float:
        """CPU seconds of one turn, as a worker runs it."""
        run = uuid.uuid4().hex
        start = StartRun(run=run, user="u", session="s", session_key=1, head=0, shared="{}")
        began = time.process_time()
        current_run.set(run)
        self.instruments.begin(start)
        await turn(RUNTIME, self.runner, streamed=self.streamed)
        self.instruments.forget(run)
        return time.process_time() - began


RUNTIME = Runtime("devui.runtime")


def way(name: str, link: Link, around: Callable[[Instruments], Around]) -> Way:
    """A runner of a scenario whose plugins stand as `around` has it."""
    runner = RUNTIME.runner(agent=RUNTIME.bench_agent(name), app_name="bench")
    instruments = Instruments(link)
    runner.plugin_manager = around(instruments)(runner.plugin_manager)
    return Way(runner, instruments, streamed=SCENARIOS[name].chunks > 0)


def bare(_: Instruments) -> Around:
    """No debugger at all."""
    return lambda plugins: plugins


def gated(instruments: Instruments) -> Around:
    """The gates alone."""

    def around(plugins: PluginManager) -> PluginManager:
        manager = instruments.around(plugins)
        gates = (GatesAfter, GatesBefore)
        manager.plugins[:] = [each for each in manager.plugins if isinstance(each, gates)]
        return manager

    return around


def whole(instruments: Instruments) -> Around:
    """All that a worker has."""
    return instruments.around


async def measure(name: str, link: Link, seconds: float) -> Figures:
    """Milliseconds of CPU time of bare turns, and how many times that the other ways take."""
    ways = [way(name, link, around) for around in (bare, gated, whole)]
    for each in ways * WARM_UP:
        await each.turn()
    gc.collect()
    rounds: list[list[float]] = []
    orders = itertools.cycle(itertools.permutations(range(len(ways))))
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or len(rounds) < 5:
        # In every order in turn, so that none always follows the same one.
        order = next(orders)
        took = {index: await ways[index].turn() for index in order}
        rounds.append([took[index] for index in range(len(ways))])
    return {
        f"gates.{name}_bare_ms": median_ms(took[0] for took in rounds),
        f"gates.{name}_gates_ratio": ratio(rounds, 1),
        f"gates.{name}_all_ratio": ratio(rounds, 2),
    }


def ratio(rounds: list[list[float]], index: int) -> float:
    """How many times the bare one a way takes."""
    return statistics.median(took[index] / took[0] for took in rounds)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="measured time per scenario")
    seconds = parser.parse_args().seconds
    figures: Figures = {}
    nowhere = os.open(os.devnull, os.O_WRONLY)
    link = Link(io.BytesIO(), nowhere, asyncio.get_running_loop())
    for name in MEASURED:
        figures |= await measure(name, link, seconds)
    os.close(nowhere)
    report(figures)


if __name__ == "__main__":
    asyncio.run(main())
