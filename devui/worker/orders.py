"""Executes the server's orders to a loaded app, until a `Shutdown`."""

import asyncio
from collections.abc import Awaitable, Callable

from devui.wire.endings import EndCall
from devui.wire.messages import ArmGates, Shutdown, StartRun, StopRun, ToWorker
from devui.wire.trials import StopTrial, Trial
from devui.wire.uncommitted import WatchState
from devui.worker.engine import Engine
from devui.worker.runs import Runs

_SECONDS_TO_STOP = 3.0

Inbox = asyncio.Queue[ToWorker]


async def carry_out(
    engine: Engine, runs: Runs, inbox: Inbox, close: Callable[[], Awaitable[None]]
) -> None:
    """Execute orders until a `Shutdown`, then stop what is still running, and `close`.

    Raises TimeoutError if that takes more than three seconds.
    """
    while not isinstance(message := await inbox.get(), Shutdown):
        if isinstance(message, StartRun):
            runs.start(message)
        elif isinstance(message, StopRun):
            runs.stop(message.run)
        elif isinstance(message, ArmGates):
            runs.arm(message)
        elif isinstance(message, EndCall):
            runs.end_call(message)
        elif isinstance(message, WatchState):
            engine.watch(message.run)
        elif isinstance(message, StopTrial):
            engine.trials.stop(message.trial)
        elif isinstance(message, Trial):
            engine.trials.start(message)
    async with asyncio.timeout(_SECONDS_TO_STOP):
        await runs.stop_all()
        await engine.trials.stop_all()
        await close()
