"""`AbortSwitch`: stops an invocation that is running (adk-runtime 3.7)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from types import AsyncGeneratorType
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from devui.runtime.mistakes import brief

if TYPE_CHECKING:
    from types import TracebackType

    from devui.runtime.events.event import Event

_MOST_TURNS = 100
"""The number of event-loop turns by which a stop is delayed while events are in transit. Each level
of nested agents takes four; code that holds an event back longer is cancelled with the rest."""


@runtime_checkable
class Signal(Protocol):
    """A caller's way to stop an invocation, such as an `asyncio.Event`."""

    def is_set(self) -> bool:
        """Return whether the invocation must stop."""
        ...

    def set(self) -> object:
        """Ask the invocation to stop."""
        ...


class Passage(Protocol):
    """Carries events from one task of an invocation to another."""

    def is_carrying(self) -> bool:
        """Return whether it holds something that has not been taken yet."""
        ...


class AbortSwitch:
    """Tells whether an invocation must stop, and cancels its work.

    Events in transit to the caller are still delivered: the code that asks for the stop, and code
    that runs in parallel, may have finished its work.

    Use it as a context around the work. The work is a generator that its caller's task drives, so
    that task is cancelled, in the way of `asyncio.timeout`: only while it waits for the work, and
    the cancellation ends here. An invocation within this one has this switch as its signal.
    """

    # Defaults on the class: most invocations never set any of them.
    is_on = False
    """Whether code of the invocation has asked it to stop."""
    signal: Signal | None = None
    """The caller's signal, if any."""
    sealed = False
    _work: AsyncGenerator[Event, None] | None = None
    _task: asyncio.Task[Any] | None = None
    """The task that waits for the next event."""
    _cancelling = 0
    _cancelled: asyncio.Task[Any] | None = None
    _waiter: asyncio.Task[Any] | None = None

    def __init__(self) -> None:
        self.passages: list[Passage] = []
        """The passages in use."""

    def attach(self, signal: Signal) -> None:
        """Let the caller's signal stop the invocation, too.

        Raises:
            TypeError: it is not a signal.
        """
        if not isinstance(signal, Signal):
            raise TypeError(f"`abort_signal` is {brief(signal)}; pass an asyncio.Event().")
        self.signal = signal

    def is_set(self) -> bool:
        """Return whether the invocation must stop."""
        return self.is_on or (self.signal is not None and self.signal.is_set())

    def set(self) -> None:
        """Stop the invocation and set the caller's signal; callable from any thread."""
        self.is_on = True
        loop = self._task.get_loop() if self._task else None
        if loop is None or loop is _running_loop() or loop.is_closed():
            self._tell()
        else:
            loop.call_soon_threadsafe(self._tell)

    def over(self, work: AsyncGenerator[Event, None] | None) -> Self:
        """Return the context around the work; None for work that only stops at its next event."""
        self._work = work
        return self

    def stops(self) -> bool:
        """Return whether to stop here; if not, the calling task is the one that waits for the work.

        An event that arrived while the caller was busy with another one is delivered first.
        """
        self._task = asyncio.current_task()
        if not self.is_set():
            return False
        if self._work is None or not self._is_carrying():
            return True
        self._cancel_soon()
        return False

    def seal(self) -> bool:
        """Note that the history will record the stop; return False if there is none to record."""
        if self.sealed or not self.is_set():
            return False
        if self.signal is not None:
            self.signal.set()  # another thread's request may still be in transit
        self.sealed = True
        return True

    def __enter__(self) -> Self:
        self._task = task = asyncio.current_task()
        if task is not None:
            self._cancelling = task.cancelling()
        # An enclosing invocation's switch isn't awaited: it cancels this one with its own work.
        if isinstance(self.signal, asyncio.Event) and self._work is not None:
            self._waiter = asyncio.create_task(self.signal.wait())
            self._waiter.add_done_callback(self._signalled)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> bool:
        self._work = None
        if self._waiter is not None:
            self._waiter.cancel()
        if self._cancelled is None:
            return False
        others = self._cancelled.uncancel() > self._cancelling
        return kind is asyncio.CancelledError and not others

    def _tell(self) -> None:
        if self.signal is not None:
            self.signal.set()
        if self._work is not None and _running_loop() is not None:
            self._cancel_soon()

    def _signalled(self, waiter: asyncio.Task[Any]) -> None:
        if not waiter.cancelled() and waiter.exception() is None:
            self._cancel_soon()

    def _cancel_soon(self, turns: int = _MOST_TURNS) -> None:
        """Cancel the work once everything in this turn of the event loop is waiting again."""
        asyncio.get_running_loop().call_soon(self._cancel, turns)

    def _cancel(self, turns: int) -> None:
        if not self._is_at_work() or self._task is None or self._cancelled is not None:
            return
        if turns and self._is_carrying():
            self._cancel_soon(turns - 1)
            return
        self._cancelled = self._task
        self._task.cancel()

    def _is_carrying(self) -> bool:
        return any(passage.is_carrying() for passage in self.passages)

    def _is_at_work(self) -> bool:
        """Return whether the caller waits for the work, rather than being busy with an event."""
        return isinstance(self._work, AsyncGeneratorType) and self._work.ag_running


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
