"""Inspects runs: asks workers where their code stands, and notices runs without progress."""

import asyncio
import contextlib
import itertools
from typing import Final

from devui.debugger.events.bus import Bus
from devui.debugger.events.news import News, PositionChanged, RunStuck
from devui.debugger.runs.activity import branches_of
from devui.debugger.runs.live import LiveRun
from devui.wire.inspection import Inspection, InspectRun

PATIENCE: Final = 5.0
"""Seconds without progress after which a run is called quiet."""
_BEAT: Final = 1.0
_ANSWER: Final = 2.0
"""How many seconds a worker may take to answer; it can even while its event loop is blocked."""


class Inspections:
    """The inspections of runs that wait for an answer."""

    def __init__(self, bus: Bus[News]) -> None:
        self._bus = bus
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Inspection]] = {}

    async def inspect(self, live: LiveRun) -> Inspection | None:
        """Ask where the code of a run stands; None if there is no worker or it doesn't answer."""
        if live.worker is None or live.ended.is_set():
            return None
        number = next(self._numbers)
        future: asyncio.Future[Inspection] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            async with asyncio.timeout(_ANSWER):  # a worker that reads nothing blocks `send`, too
                await live.worker.send(InspectRun(number=number, run=live.row.id))
                live.inspection = await future
        except TimeoutError:
            live.answers = False
            return None
        finally:
            self._waiting.pop(number, None)
        live.answers = True
        return live.inspection

    def take(self, answer: Inspection) -> None:
        """Take a worker's answer; one that comes too late is ignored."""
        future = self._waiting.get(answer.number)
        if future is not None and not future.done():
            future.set_result(answer)

    async def watch(self, live: LiveRun) -> None:
        """Watch a run until it ends: publish when it goes quiet, and what runs beside its holds."""
        beside = _beside(live)
        while not live.ended.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_BEAT):
                    await live.watchdog_wake.wait()
            live.watchdog_wake.clear()
            await self._listen(live)
            if live.stepper.holds:
                beside = await self._look_beside(live, beside)

    async def _listen(self, live: LiveRun) -> None:
        if _is_quiet(live) and not live.quiet:
            await self.inspect(live)  # pages that show it as quiet show what it waits for
        quiet = _is_quiet(live)
        if quiet != live.quiet:
            live.quiet = quiet
            self._bus.publish(live.session.key, RunStuck(live.row.id))

    async def _look_beside(
        self, live: LiveRun, before: list[tuple[str, ...]]
    ) -> list[tuple[str, ...]]:
        """Return what runs beside the holds, and publish it if it differs from `before`.

        `live.inspection` can't replace `before`, since others inspect without publishing.
        """
        await self.inspect(live)
        now = _beside(live)
        if now != before:
            self._bus.publish(live.session.key, PositionChanged(live.row.id, live.stepper.position))
        return now


def _is_quiet(live: LiveRun) -> bool:
    """Whether the run has made no progress for a while although nothing holds it."""
    waits = live.stepper.holds or live.debugging.as_json() or live.ended.is_set()
    return live.last_progress.seconds >= PATIENCE and not waits


def _beside(live: LiveRun) -> list[tuple[str, ...]]:
    """Return the branches, with only the fields whose changes are worth publishing."""
    names = ("agent", "branch", "status", "doing")
    return [tuple(str(each[name]) for name in names) for each in branches_of(live)]
