"""Threads for the plain functions of agent code (runtime seed).

An executor would do the same at three times the cost. Most plain functions return at once, so a
call must not cost much more than it does: it is handed to a thread that waits for work by a pipe,
and handed back by a lock. A pipe, because who is woken by one goes on more often where its waker
has run and is about to wait; to wake another processor takes longer than most functions do.
"""

import asyncio
import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

_MOMENT = 0.001
"""Seconds for which a caller waits on the spot, before its loop goes on with other things."""


class _Call:
    """One call of a function, and what came of it."""

    __slots__ = ("_error", "_result", "_waker", "context", "ended", "function", "thread")

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self.context = contextvars.copy_context()
        self.ended = threading.Lock()
        self.ended.acquire()
        self.thread = 0
        """The ident of the thread it runs in."""
        self._result: Any = None
        self._error: BaseException | None = None
        self._waker: tuple[asyncio.AbstractEventLoop, asyncio.Future[None]] | None = None

    def run(self) -> None:
        """Call the function; in a thread."""
        self.thread = threading.get_ident()
        try:
            self._result = self.context.run(self.function)
        except StopIteration as error:
            # A coroutine cannot raise StopIteration to those who await it.
            self._error = RuntimeError(f"{self.function!r} raised StopIteration")
            self._error.__cause__ = error
        except BaseException as error:  # noqa: BLE001  it belongs to the caller, whatever it is
            self._error = error

    def end(self) -> None:
        """Tell the caller, which waits on the spot or by its loop; in a thread."""
        self.ended.release()
        if (waker := self._waker) is not None:
            loop, future = waker
            try:
                loop.call_soon_threadsafe(_wake, future)
            except RuntimeError:  # the loop was closed: nobody waits any more
                return

    def waited_for(self) -> asyncio.Future[None] | None:
        """What to await until the function has ended; None if it has."""
        if self.ended.acquire(timeout=_MOMENT):
            return None
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._waker = loop, future
        # It may have ended just before it could see the waker.
        return None if self.ended.acquire(blocking=False) else future

    def is_ended_by(self, future: asyncio.Future[Any]) -> bool:
        """Whether the future is what `waited_for` gave."""
        return self._waker is not None and self._waker[1] is future

    def end_for_others(self) -> asyncio.Future[None]:
        """The end, for somebody else than who waits by `waited_for`: that one is told no more."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._waker = loop, future
        if self.ended.acquire(blocking=False):  # just before it could see the new waker
            future.set_result(None)
        return future

    def outcome(self) -> Any:
        """What the function returned; raises what it raised."""
        if self._error is not None:
            raise self._error
        return self._result


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class PlainThreads:
    """A limited number of threads, begun when they are needed and kept."""

    def __init__(self, limit: int, name: str) -> None:
        """Begin at most `limit` threads, with names that begin with `name`."""
        self._limit = limit
        self._name = name
        self._begin()
        # A forked copy has none of the threads, and may not wake those of the original.
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._begun = 0
        self._unended = 0
        self._waiting: deque[_Call] = deque()
        self._bell_heard, self._bell = os.pipe()
        """A byte for each call that has been handed over; threads wait for the next."""
        self._lock = threading.Lock()
        self.running: set[_Call] = set()
        """The calls that have begun and not ended, those of cancelled callers included."""
        self.awaited: dict[asyncio.Task[Any], asyncio.Future[None]] = {}
        """The tasks that wait for a function, and its end."""

    async def run(self, function: Callable[[], Any]) -> Any:
        """Call the function in a thread, with the caller's context variables.

        A quick one is done when this returns to the loop for the first time.
        """
        call = _Call(function)
        self._hand_over(call)
        future = call.waited_for()
        if future is not None:
            await self._end(future)
        return call.outcome()

    def thread_of(self, future: asyncio.Future[Any]) -> int | None:
        """The ident of the thread in which the function runs whose end a task awaits.

        None of a future that is no such end, or if no thread has been free yet. From any thread.
        """
        return next((call.thread for call in tuple(self.running) if call.is_ended_by(future)), None)

    def end_for_others(self, task: asyncio.Task[Any]) -> asyncio.Future[None] | None:
        """The end of the function that a task waits for and will not hear of; None without one."""
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

    def _hand_over(self, call: _Call) -> None:
        with self._lock:
            if self._begun <= self._unended and self._begun < self._limit:
                # Daemons hold up no interpreter that wants to end: their callers have left.
                name = f"{self._name}_{self._begun + 1}"
                threading.Thread(target=self._work, name=name, daemon=True).start()
                self._begun += 1
            self._unended += 1
        self._waiting.append(call)
        os.write(self._bell, b"!")

    def _work(self) -> None:
        owner = os.getpid()
        while True:
            os.read(self._bell_heard, 1)
            call = self._waiting.popleft()
            self.running.add(call)
            call.run()
            if os.getpid() != owner:
                return  # in a copy that the function forked; nobody there waits for it
            self.running.discard(call)
            with self._lock:
                self._unended -= 1
            call.end()
            del call  # what it returned is the caller's alone
