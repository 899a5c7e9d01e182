"""Time limits of nodes and agents, which stand still while these wait for others (devui's own).

An agent is not late because somebody looks at its event, or holds it at a gate. So the limits of
what runs are known to all that it is made of, also in tasks of its own.
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
    """A context in which the work may take so many seconds, as `asyncio.timeout`.

    Leaving it raises TimeoutError when the time was up, and `expired` says so. Entered again, what
    was left is left.
    """

    def __init__(self, seconds: float | None) -> None:
        """Give the work so many seconds; None for as many as it needs."""
        self.remaining = seconds
        """How many seconds were left when the clock was stopped last; None for no limit."""
        self.expired = False
        self._timeout: asyncio.Timeout | None = None
        self._token: Token[tuple[TimeLimit, ...]] | None = None
        self._holds = 0

    def hold(self) -> None:
        """Stop the clock, until it is released as often as it was held."""
        self._holds += 1
        if self._holds == 1:
            self._stop()

    def release(self) -> None:
        """Let the clock go on."""
        self._holds -= 1
        timeout = self._timeout
        if self._holds == 0 and self.remaining is not None and timeout and not timeout.expired():
            timeout.reschedule(asyncio.get_running_loop().time() + self.remaining)

    def _stop(self) -> None:
        end = self._timeout.when() if self._timeout else None
        if end is None or self._timeout is None:
            return  # it stands still
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
    """Let no time pass for the limits of the code that runs here."""
    limits = _limits.get()
    for limit in limits:
        limit.hold()
    try:
        yield
    finally:
        for limit in limits:
            limit.release()
