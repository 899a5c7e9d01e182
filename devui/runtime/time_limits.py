"""Time limits of nodes and agents, which pause while these wait for others (devui's own).

An agent is not late because somebody looks at its event, or holds it at a gate. So all of its code,
including its own tasks, knows the limits that apply to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

_limits: ContextVar[tuple[TimeLimit, ...]] = ContextVar("devui_time_limits", default=())


class TimeLimit:
    """A context that limits the time of the work in it, like `asyncio.timeout`.

    Leaving it raises TimeoutError if the time was up, and sets `expired`. If entered again, it
    continues with the remaining time.
    """

    def __init__(self, seconds: float | None) -> None:
        """Limit the work to that many seconds; None for no limit."""
        self.remaining = seconds
        """How many seconds were left when the clock last stopped; None for no limit."""
        self.expired = False
        self._timeout: asyncio.Timeout | None = None
        self._token: Token[tuple[TimeLimit, ...]] | None = None
        self._holds = 0

    def hold(self) -> None:
        """Stop the clock until it has been released as often as it was held."""
        self._holds += 1
        if self._holds == 1:
            self._stop()

    def release(self) -> None:
        """Restart the clock, unless it is held elsewhere."""
        self._holds -= 1
        timeout = self._timeout
        if self._holds == 0 and self.remaining is not None and timeout and not timeout.expired():
            timeout.reschedule(asyncio.get_running_loop().time() + self.remaining)

    def _stop(self) -> None:
        end = self._timeout.when() if self._timeout else None
        if end is None or self._timeout is None:
            return  # it is stopped already
        self.remaining = end - asyncio.get_running_loop().time()
        if not self._timeout.expired():
            self._timeout.reschedule(None)

    async def __aenter__(self) -> Self:
        if self.remaining is not None:
            self._timeout = asyncio.timeout(None if self._holds else self.remaining)
            await self._timeout.__aenter__()
            self._token = _limits.set((*_limits.get(), self))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        timeout, token = self._timeout, self._token
        if timeout is None or token is None:
            return
        self._stop()
        _limits.reset(token)
        self._timeout = self._token = None
        self.expired = timeout.expired()
        await timeout.__aexit__(kind, error, trace)


@contextmanager
def clock_stopped() -> Iterator[None]:
    """Stop the clocks of all limits that apply to the running code."""
    limits = _limits.get()
    for limit in limits:
        limit.hold()
    try:
        yield
    finally:
        for limit in limits:
            limit.release()
