"""Threads for plain functions: those of agents' code, and work on files (runtime seed).

Unlike an executor's, they pass context variables there and back, know which call runs where, don't
delay the interpreter's exit, and answer a quick call before the caller's loop has to be woken.
"""

import asyncio
import contextvars
import functools
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from devui.runtime.mistakes import place

_MOMENT = 0.001
"""How long a caller waits on the spot before its loop does other work, in seconds."""
_MOMENTS = 0.002
"""How long all callers of a thread do so within `_WHILE`, in seconds: many may be ready at once."""
_WHILE = 0.01
"""The period of `_MOMENTS`, in seconds; most of it is left for other work of the loop."""
_UNSET = object()

_is_within: contextvars.ContextVar[bool] = contextvars.ContextVar("is_within", default=False)
"""Whether this code is called by a plain function, which occupies its thread meanwhile."""


class Outcome:
    """One call of a function, and its outcome."""

    __slots__ = ("_result", "error", "function")

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self._result: Any = None
        self.error: BaseException | None = None
        """What the function raised, if anything."""

    def run(self) -> None:
        """Call the function, and keep its result or error."""
        try:
            self._result = self._call()
        except StopIteration as error:
            # A coroutine can't raise StopIteration to its awaiter.
            function = self.function
            if isinstance(function, functools.partial):
                function = function.func
            self.error = RuntimeError(
                f"{place(function)} raised StopIteration, as next() does when nothing is left."
                " Catch it there."
            )
            self.error.__cause__ = error
        except BaseException as error:  # noqa: BLE001  passed on to the caller, whatever it is
            self.error = error

    def value(self) -> Any:
        """Return what the function returned, or raise what it raised."""
        if self.error is not None:
            raise self.error
        return self._result

    def _call(self) -> Any:
        return self.function()


class Call(Outcome):
    """A call of a function in a thread."""

    __slots__ = ("_waker", "context", "end_lock", "remainder", "thread")

    def __init__(self, function: Callable[[], Any]) -> None:
        super().__init__(function)
        self.context = contextvars.copy_context()
        self.context.run(_is_within.set, True)
        self.end_lock = threading.Lock()
        self.end_lock.acquire()
        self.remainder: asyncio.Future[None] | None = None
        """What to await until the function has ended; None if it has."""
        self.thread = 0
        """The ident of the thread in which it runs."""
        self._waker: tuple[asyncio.AbstractEventLoop, asyncio.Future[None]] | None = None

    def _call(self) -> Any:
        self.thread = threading.get_ident()
        return self.context.run(self.function)

    def end(self) -> None:
        """Notify the caller, which waits on the spot or through its loop; called in the thread."""
        self.end_lock.release()
        if (waker := self._waker) is not None:
            loop, future = waker
            try:
                loop.call_soon_threadsafe(_wake, future)
            except RuntimeError:  # the loop was closed: nobody is waiting
                return

    def wait(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        """Wait on the spot; `remainder` is what is left to await after that."""
        if self.end_lock.acquire(timeout=seconds):
            return
        future = loop.create_future()
        self._waker = loop, future
        # It may have ended just before the waker became visible to it.
        if not self.end_lock.acquire(blocking=False):
            self.remainder = future

    def is_ended_by(self, future: asyncio.Future[Any]) -> bool:
        """Return whether the thread notifies this future of its end."""
        return self._waker is not None and self._waker[1] is future

    def end_for_others(self) -> asyncio.Future[None]:
        """Return a future for the end; whoever awaits `remainder` is no longer notified."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._waker = loop, future
        if self.end_lock.acquire(blocking=False):  # just before the new waker became visible
            future.set_result(None)
        return future

    def hand_back(self) -> None:
        """Copy the context variables that the function has set to the caller's context.

        This is as if it had run there: what a callback binds, such as an id for the log, also
        applies to later code.
        """
        for variable, value in self.context.items():
            if variable.get(_UNSET) is not value and variable is not _is_within:
                variable.set(value)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class _Patience(threading.local):
    """How long callers in this thread may still wait on the spot."""

    _seconds = 0.0
    _ends = 0.0
    """When the callers' time is renewed, by `time.perf_counter`."""

    def wait(self, call: Call) -> None:
        began = time.perf_counter()
        if began >= self._ends:
            self._seconds, self._ends = _MOMENTS, began + _WHILE
        call.wait(asyncio.get_running_loop(), min(_MOMENT, max(self._seconds, 0.0)))
        self._seconds -= time.perf_counter() - began


class PlainThreads:
    """A limited number of threads, started on demand and kept."""

    def __init__(self, limit: int, name: str) -> None:
        """Start at most `limit` threads, with names that begin with `name`."""
        self._limit = limit
        self._name = name
        self._patience = _Patience()
        self._begin()
        # A forked child has none of the threads, and must not wake those of its parent.
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._thread_count = 0
        self._free: list[SimpleQueue[Call]] = []
        """The queues of the idle threads; the one that worked last gets the next call."""
        self._waiting: deque[Call] = deque()
        """The calls that wait for a thread."""
        self._lock = threading.Lock()
        self.running: set[Call] = set()
        """The calls that have begun and not ended, including those of cancelled callers."""
        self.awaited: dict[asyncio.Task[Any], asyncio.Future[None]] = {}
        """The tasks that wait for a function, each with the future for its end."""

    async def run(self, function: Callable[[], Any]) -> Any:
        """Call the function in a thread, and pass context variables there and back.

        A quick call is done before the loop does anything else.
        """
        call = self.begin(function)
        if call.remainder is not None:
            await self._end(call.remainder)
        call.hand_back()
        return call.value()

    def begin(self, function: Callable[[], Any]) -> Call:
        """Call the function in a thread, and wait a moment for its end."""
        call = Call(function)
        self._hand_over(call)
        if not call.end_lock.acquire(blocking=False):
            self._patience.wait(call)
        return call

    def thread_of(self, future: asyncio.Future[Any]) -> int | None:
        """Return the ident of the thread that runs the function whose end is `future`.

        None if the future isn't such an end, or if no thread has been free yet. May be called from
        any thread.
        """
        return next((call.thread for call in tuple(self.running) if call.is_ended_by(future)), None)

    def end_for_others(self, task: asyncio.Task[Any]) -> asyncio.Future[None] | None:
        """Return a future for the end of the function that a task awaits but won't see; or None."""
        future = self.awaited.get(task)
        if future is None or future.done():
            return None
        calls = (*tuple(self.running), *tuple(self._waiting))
        call = next((each for each in calls if each.is_ended_by(future)), None)
        return call.end_for_others() if call else None

    async def _end(self, future: asyncio.Future[None]) -> None:
        task = asyncio.current_task()
        if task is None:
            await future
            return
        self.awaited[task] = future
        try:
            await future
        finally:
            del self.awaited[task]

    def _hand_over(self, call: Call) -> None:
        with self._lock:
            thread = self._free.pop() if self._free else None
            if thread is None and not self._begin_beyond(call):
                self._begin_thread()
                self._waiting.append(call)
        if thread is not None:
            thread.put(call)

    def _begin_beyond(self, call: Call) -> bool:
        """Start a thread beyond the limit, for this call alone, if its caller occupies a thread.

        All threads may be occupied by functions that wait for such calls; none would ever be free.
        """
        if self._thread_count < self._limit or not _is_within.get():
            return False
        try:
            self._start(self._do, call, name=f"{self._name}_within")
        except RuntimeError:  # too many threads
            return False
        return True

    def _begin_thread(self) -> None:
        """Start another thread if allowed; raises RuntimeError if not even the first one starts."""
        if self._thread_count == self._limit:
            return
        try:
            self._start(self._work, SimpleQueue(), name=f"{self._name}_{self._thread_count + 1}")
        except RuntimeError:  # too many threads
            if self._thread_count == 0:
                raise
        else:
            self._thread_count += 1

    def _start(self, work: Callable[..., None], argument: Any, *, name: str) -> None:
        # Daemon threads don't delay the interpreter's exit: their callers have left.
        threading.Thread(target=work, args=(argument,), name=name, daemon=True).start()

    def _work(self, calls: "SimpleQueue[Call]") -> None:
        owner = os.getpid()
        following = self._next(calls)
        while True:
            call = following or calls.get()
            self._run(call)
            if os.getpid() != owner:
                return  # in a child forked by the function, where nobody waits for it
            # Marked as free before the caller is notified, which may make another call at once.
            following = self._next(calls)
            call.end()
            del call  # only the caller keeps what it returned

    def _do(self, call: Call) -> None:
        owner = os.getpid()
        self._run(call)
        if os.getpid() == owner:
            call.end()

    def _run(self, call: Call) -> None:
        self.running.add(call)
        call.run()
        self.running.discard(call)

    def _next(self, calls: "SimpleQueue[Call]") -> Call | None:
        """Return a call that has waited for a thread; without one, mark the thread as free."""
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            self._free.append(calls)
            return None
