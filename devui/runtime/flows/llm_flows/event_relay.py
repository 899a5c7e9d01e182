"""Events of running tools on their way into the session (adk-runtime 12.8)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from devui.runtime.cancellation import cancel_here, stop
from devui.runtime.time_limits import clock_stopped

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event

T = TypeVar("T")


class EventRelay(Generic[T]):
    """Yields what tools emit while they run; each goes on when its event has been committed."""

    def __init__(self, ctx: InvocationContext) -> None:
        self._ctx = ctx
        self._queue: asyncio.Queue[tuple[Event, asyncio.Event] | None] = asyncio.Queue()
        self._result: T | None = None
        self._task: asyncio.Task[T] | None = None
        self._left = False
        """Whether the consumer has left, and nobody commits events any more."""

    @property
    def result(self) -> T:
        """What the work returned; to be asked for when `events` has ended."""
        if self._result is None:
            raise RuntimeError("The tools are still running.")
        return self._result

    async def events(self, work: Coroutine[Any, Any, T]) -> AsyncGenerator[Event, None]:
        """Do the work in a task and yield its events; raises what the work raises.

        When the consumer leaves, the work is cancelled.
        """
        passages = self._ctx.abort_switch.passages
        task = self._task = asyncio.create_task(work)
        passages.append(self)
        task.add_done_callback(lambda _: self._queue.put_nowait(None))
        self._ctx.emit = self.emit
        try:
            while (item := await self._queue.get()) is not None:
                event, committed = item
                yield event
                committed.set()
            self._result = await task
        finally:
            passages.remove(self)
            self._ctx.emit = None
            self._left = True
            if not task.done():
                await stop([task])

    def is_carrying(self) -> bool:
        """Whether there is an event, or what the work returned, that nobody has taken yet."""
        return not self._queue.empty() or (self._task is not None and self._task.done())

    async def emit(self, event: Event) -> None:
        """Hand an event over; returns when it has been committed."""
        if self._left:  # it goes on though it was cancelled, or is about to be
            await cancel_here()
        committed = asyncio.Event()
        self._queue.put_nowait((event, committed))
        with clock_stopped():
            await committed.wait()
