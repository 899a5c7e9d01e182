"""The runs of a worker: one task each, which always ends with a `RunEnded`."""

import asyncio
from pathlib import Path
from typing import Literal

from devui.runtime.calling import active_threads
from devui.wire.endings import EndCall
from devui.wire.errors import AgentError
from devui.wire.messages import ArmGates, RunEnded, StartRun
from devui.wire.recordings import DIVERGED, ReplayVerdict
from devui.worker.engine import Engine
from devui.worker.errors import agent_error
from devui.worker.instruments.instruments import Instruments
from devui.worker.link import Link
from devui.worker.output import Outputs, current_run
from devui.worker.replay.replay import Diverged

Outcome = Literal["done", "failed", "stopped"]


class Runs:
    """Starts and stops runs; several may execute at once, each on its own session."""

    def __init__(
        self,
        engine: Engine,
        link: Link,
        outputs: Outputs,
        instruments: Instruments,
        *,
        agents: Path,
    ) -> None:
        self._engine = engine
        self._link = link
        self._outputs = outputs
        self._instruments = instruments
        self._agents = agents
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._active: set[str] = set()
        """The runs whose tasks have taken their first step."""
        self._stopped: set[str] = set()

    def start(self, start: StartRun) -> None:
        """Begin a run."""
        self._instruments.begin(start)
        task = asyncio.get_running_loop().create_task(self._run(start), name=start.run)
        self._tasks[start.run] = task
        task.add_done_callback(lambda _: self._tasks.pop(start.run, None))

    def stop(self, run: str) -> None:
        """Cancel a run; does nothing if it has ended."""
        task = self._tasks.get(run)
        if task is None:
            return
        self._stopped.add(run)
        # A task that is cancelled before its first step takes none, and couldn't send `RunEnded`.
        if run in self._active:
            task.cancel("stopped by the user")

    def arm(self, message: ArmGates) -> None:
        """Change the gates at which a run asks."""
        if message.run in self._tasks:
            self._instruments.arm(message.run, message.gates)

    def end_call(self, order: EndCall) -> None:
        """End one call and let its run continue."""
        self._instruments.endings.end(order)

    async def stop_all(self) -> None:
        """Cancel every run and wait until all have ended."""
        tasks = list(self._tasks.values())
        for run in list(self._tasks):
            self.stop(run)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, start: StartRun) -> None:
        current_run.set(start.run)
        self._active.add(start.run)
        outcome: Outcome = "done"
        error: AgentError | None = None
        try:
            if start.run in self._stopped:
                outcome = "stopped"
            else:
                await self._engine.run(start)
        # Agent code may raise anything, sys.exit() included: it ends its run, never the worker.
        except BaseException as exception:  # noqa: BLE001
            stopped = isinstance(exception, asyncio.CancelledError) and start.run in self._stopped
            outcome = "stopped" if stopped else "failed"
            error = None if stopped else agent_error(exception, self._agents)
        outcome, error, verdict = self._judge(start.run, outcome, error)
        self._stopped.discard(start.run)
        self._active.discard(start.run)
        self._outputs.end(start.run)
        self._instruments.forget(start.run)
        alone = len(self._tasks) <= 1
        self._link.send(
            RunEnded(
                run=start.run,
                outcome=outcome,
                error=error,
                stuck_threads=active_threads() if alone else 0,
                replay=verdict,
            )
        )

    def _judge(
        self, run: str, outcome: Outcome, error: AgentError | None
    ) -> tuple[Outcome, AgentError | None, ReplayVerdict | None]:
        """Return the outcome of a run; for a replay, it also depends on its verdict."""
        replay = self._instruments.replayer.of(run)
        if replay is None:
            return outcome, error, None
        verdict = replay.verdict(outcome, f"{error.type}: {error.message}" if error else None)
        if isinstance(replay.end, Diverged):
            message = replay.end.divergence.message
            return "failed", AgentError(type=DIVERGED, message=message, traceback=""), verdict
        return ("stopped", None, verdict) if replay.end else (outcome, error, verdict)
