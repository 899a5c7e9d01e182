"""Looks at runs: asks their workers where the code stands, and notices runs that do not come on."""

import asyncio
import contextlib
import itertools
from typing import Final

from devui.debugger.events.bus import Bus
from devui.debugger.events.news import News, PositionChanged, RunStuck
from devui.debugger.runs.live import LiveRun
from devui.debugger.runs.standing import branches_of
from devui.wire.standing import Look, LookAnswer

PATIENCE: Final = 5.0
"""Seconds without progress after which a run is called quiet."""
_BEAT: Final = 1.0
_ANSWER: Final = 2.0
"""Seconds a worker may take to answer; it does so even while its event loop is blocked."""


class Looks:
    """The looks that wait for an answer."""

    def __init__(self, bus: Bus[News]) -> None:
        self._bus = bus
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[LookAnswer]] = {}

    async def look(self, live: LiveRun) -> LookAnswer | None:
        """Where the code of a run stands; None if its worker is not there or does not answer."""
        if live.worker is None or live.ended.is_set():
            return None
        number = next(self._numbers)
        future: asyncio.Future[LookAnswer] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            async with asyncio.timeout(_ANSWER):  # a worker that reads nothing blocks `send`, too
                await live.worker.send(Look(look=number, run=live.row.id))
                live.look = await future
        except TimeoutError:
            return None
        finally:
            self._waiting.pop(number, None)
        return live.look

    def take(self, answer: LookAnswer) -> None:
        """An answer; one that comes too late is of no use."""
        future = self._waiting.get(answer.look)
        if future is not None and not future.done():
            future.set_result(answer)

    async def watch(self, live: LiveRun) -> None:
        """Until the run ends: tell when it goes quiet, and what goes on beside what is held."""
        beside = _beside(live)
        while not live.ended.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_BEAT):
                    await live.stirred.wait()
            live.stirred.clear()
            self._listen(live)
            if live.stepper.holds:
                beside = await self._look_beside(live, beside)

    def _listen(self, live: LiveRun) -> None:
        silent = live.progressed.seconds
        waits = live.stepper.holds or live.debugging.as_json() or live.ended.is_set()
        quiet = silent >= PATIENCE and not waits
        if quiet != live.quiet:
            live.quiet = quiet
            self._bus.publish(live.session.key, RunStuck(live.row.id))

    async def _look_beside(
        self, live: LiveRun, before: list[tuple[str, ...]]
    ) -> list[tuple[str, ...]]:
        """What goes on now; news if that is not as told: others look too, and tell nobody."""
        await self.look(live)
        now = _beside(live)
        if now != before:
            self._bus.publish(live.session.key, PositionChanged(live.row.id, live.stepper.position))
        return now


def _beside(live: LiveRun) -> list[tuple[str, ...]]:
    """What goes on, as far as it is worth telling when it changes."""
    names = ("agent", "branch", "status", "doing")
    return [tuple(str(each[name]) for name in names) for each in branches_of(live)]
