"""How somebody stops an invocation that is at work (adk-runtime 3.7)."""

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
"""For how many turns of the loop the end is put off for what is on its way. It takes four for each
agent within an agent; code on the way that keeps it back is cancelled with the rest."""


@runtime_checkable
class Signal(Protocol):
    """What a caller stops an invocation by, such as an `asyncio.Event`."""

    def is_set(self) -> bool:
        """Whether the invocation is to stop."""
        ...

    def set(self) -> object:
        """Call for its end."""
        ...


class Passage(Protocol):
    """What brings that which is done from one task of an invocation to another."""

    def is_carrying(self) -> bool:
        """Whether something has been handed over that has not been taken yet."""
        ...


class AbortSwitch:
    """Whether an invocation is to stop. What is at work for it then is cancelled.

    What has been done by then, and is only on its way to the caller, is still told: the code that
    calls for the end, and that beside it, may have ended its work.

    It is used as a context around the work. The work is a generator that is driven by its caller's
    task, so that task is cancelled, as `asyncio.timeout` does it: only while it waits for the work,
    and the cancellation ends here. It is the signal of an invocation within this one.
    """

    # On the class: of most invocations nothing of this is ever set.
    is_on = False
    """Whether code of the invocation has called for the end."""
    signal: Signal | None = None
    """The caller's way to call for it."""
    sealed = False
    _work: AsyncGenerator[Event, None] | None = None
    _task: asyncio.Task[Any] | None = None
    """The task that has come for the next event."""
    _cancelling = 0
    _cancelled: asyncio.Task[Any] | None = None
    _waiter: asyncio.Task[Any] | None = None

    def __init__(self) -> None:
        """Begin without a signal."""
        self.passages: list[Passage] = []
        """Those in use just now."""

    def attach(self, signal: Signal) -> None:
        """Let the caller's signal stop the invocation, too.

        Raises:
            TypeError: it is no signal.
        """
        if not isinstance(signal, Signal):
            raise TypeError(f"`abort_signal` is {brief(signal)}; give an asyncio.Event().")
        self.signal = signal

    def is_set(self) -> bool:
        """Whether the invocation is to stop."""
        return self.is_on or (self.signal is not None and self.signal.is_set())

    def set(self) -> None:
        """Stop the invocation, and let the caller's signal tell that; from any thread."""
        self.is_on = True
        loop = self._task.get_loop() if self._task else None
        if loop is None or loop is _running_loop() or loop.is_closed():
            self._tell()
        else:
            loop.call_soon_threadsafe(self._tell)

    def over(self, work: AsyncGenerator[Event, None] | None) -> Self:
        """The context around the work; None for work that is to stop at its next event only."""
        self._work = work
        return self

    def stops(self) -> bool:
        """Whether to stop here; else the task that asks is the one that waits for the work next.

        An event that was on its way while the caller was busy with another comes first.
        """
        self._task = asyncio.current_task()
        if not self.is_set():
            return False
        if self._work is None or not self._is_carrying():
            return True
        self._cancel_soon()
        return False

    def seal(self) -> bool:
        """Note that the history is going to tell of the end; False if there is nothing to tell."""
        if self.sealed or not self.is_set():
            return False
        if self.signal is not None:
            self.signal.set()  # what another thread has called for may be on its way
        self.sealed = True
        return True

    def __enter__(self) -> Self:
        self._task = task = asyncio.current_task()
        if task is not None:
            self._cancelling = task.cancelling()
        # Who stops an invocation around this one cancels this one with it.
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
        """Cancel the work when what runs in this turn of the loop has come to where it waits."""
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
        """Whether the caller waits for the work, rather than being busy with an event."""
        return isinstance(self._work, AsyncGeneratorType) and self._work.ag_running


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
