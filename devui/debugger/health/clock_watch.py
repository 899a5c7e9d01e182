"""Notices that the wall clock was moved, beside one that only ever goes on (R47).

Nothing is ordered, resumed or limited by the wall clock; people are told, since the times that they
see on either side of such a moment do not compare.
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
"""Between two looks."""
_DRIFT: Final = 5.0
"""Seconds: less is a clock that is being set right, a little at a time."""


def steady() -> float:
    """Seconds on a clock that nobody sets, and that goes on while the machine sleeps."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    if sys.platform == "darwin":
        return time.clock_gettime(time.CLOCK_MONOTONIC)
    return time.monotonic()


class ClockWatch:
    """Watches the wall clock; a context manager that ends when the watching does."""

    def __init__(self, bus: Bus[News], wall: Callable[[], float] = time.time) -> None:
        self._bus = bus
        self._wall = wall
        self._ahead = wall() - steady()
        self._tasks = Tasks()
        self._watching: asyncio.Task[None] | None = None
        self.moves: list[float] = []
        """By how many seconds it was moved, each time since the server began; less than 0: back."""

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
