"""Detects changes of the wall clock by comparing it with a steady one (R47).

Nothing is ordered, resumed or limited by the wall clock. But people are told, since times shown
before and after such a change aren't comparable.
"""

import asyncio
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from devui.debugger.background.tasks import Tasks
from devui.debugger.events.bus import Bus
from devui.debugger.events.news import APPS, News, NoticesChanged

_SECONDS: Final = 2.0
"""The interval between checks."""
_DRIFT: Final = 5.0
"""The smallest change that counts, in seconds; less is a clock being adjusted gradually."""


def steady() -> float:
    """Return seconds on a clock that nobody sets and that also runs while the machine sleeps."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    if sys.platform == "darwin":
        return time.clock_gettime(time.CLOCK_MONOTONIC)
    return time.monotonic()


class ClockWatch:
    """Watches the wall clock for as long as its context lasts."""

    def __init__(self, bus: Bus[News], wall: Callable[[], float] = time.time) -> None:
        self._bus = bus
        self._wall = wall
        self._ahead = wall() - steady()
        self._tasks = Tasks()
        self._watching: asyncio.Task[None] | None = None
        self.moves: list[float] = []
        """Each change since the server started, in seconds; negative if the clock was set back."""

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._watching = self._tasks.start(self._watch(), "watching the clock")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._watching is not None:
            self._watching.cancel()
        await self._tasks.__aexit__(kind, error, trace)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_SECONDS)
            ahead = self._wall() - steady()
            drift, self._ahead = ahead - self._ahead, ahead
            if abs(drift) > _DRIFT:
                self.moves.append(drift)
                self._bus.publish(APPS, NoticesChanged())
