"""Calling what users wrote: callbacks, tools and hooks, sync or async.

Async functions run on the event loop. Plain functions run in threads of one dedicated pool, so
that a blocking callback or tool never holds up the loop (runtime seed: "sync callbacks/tools").
Most of them are done at once, and waking the loop up for them would cost more than they do: so
the caller waits a moment for them on the spot.
A thread cannot be killed: when the awaiting task is cancelled the function keeps running. Such
leftovers show in `active_threads()`.
"""

import asyncio
import contextvars
import functools
import inspect
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, ParamSpec, TypeVar, overload

P = ParamSpec("P")
T = TypeVar("T")

THREAD_NAME_PREFIX = "devui-sync"
MAX_THREADS = 64
_MOMENT = 0.0005
"""Seconds for which a plain function may hold up the loop before it is waited for by the loop."""


class _Threads:
    """The pool and the number of calls that run in it right now."""

    def __init__(self) -> None:
        # No thread starts before the first submit, so importing this module starts nothing.
        self._pool = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix=THREAD_NAME_PREFIX)
        self._lock = threading.Lock()
        self.active = 0
        self.waited_for: dict[asyncio.Task[Any], asyncio.Future[Any]] = {}

    async def run(self, function: Callable[[], Any]) -> Any:
        running = self._pool.submit(self._counted, contextvars.copy_context(), function)
        wait((running,), _MOMENT)
        if running.done():
            return running.result()
        task = asyncio.current_task()
        future = asyncio.wrap_future(running)
        if task is None:
            return await future
        self.waited_for[task] = future
        try:
            return await future
        finally:
            del self.waited_for[task]

    def _counted(self, context: contextvars.Context, function: Callable[[], Any]) -> Any:
        with self._lock:
            self.active += 1
        try:
            return context.run(function)
        except StopIteration as error:
            # A future cannot carry StopIteration: on Python 3.11 the awaiting task would hang.
            raise RuntimeError(f"{function!r} raised StopIteration") from error
        finally:
            with self._lock:
                self.active -= 1


_threads = _Threads()


def active_threads() -> int:
    """Number of sync calls that run in threads right now, those of cancelled callers included."""
    return _threads.active


def plain_function_of(task: asyncio.Task[Any]) -> asyncio.Future[Any] | None:
    """The end of the plain function that the task waits for; None if it waits for something else.

    Cancelling such a task does not stop the function, but loses what it returns.
    """
    return _threads.waited_for.get(task)


def is_async_callable(function: Callable[..., Any]) -> bool:
    """Whether calling `function` gives a coroutine: `async def`, also as partial or `__call__`."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        type(function).__call__  # a callable object; plain functions answer False here
    )


@overload
async def call(fn: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T: ...
@overload
async def call(fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...
async def call(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call `fn` and return its result, awaited if it is awaitable.

    Coroutine functions run on the loop; everything else runs in a thread, with the caller's
    context variables. Exceptions pass through unchanged, save StopIteration (RuntimeError).
    """
    if is_async_callable(fn):
        return await fn(*args, **kwargs)
    result = await _threads.run(functools.partial(fn, *args, **kwargs))
    if inspect.isawaitable(result):  # e.g. a lambda that returns a coroutine
        return await result
    return result
