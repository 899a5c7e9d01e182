"""Calling what users wrote: callbacks, tools and hooks, sync or async.

Async functions run on the event loop. Plain functions run in threads of one dedicated pool, so
that a blocking callback or tool never holds up the loop (runtime seed: "sync callbacks/tools").
A thread cannot be killed: when the awaiting task is cancelled the function keeps running. Such
leftovers show in `active_threads()`.
"""

import asyncio
import contextvars
import functools
import inspect
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar, overload

P = ParamSpec("P")
T = TypeVar("T")

THREAD_NAME_PREFIX = "devui-sync"
MAX_THREADS = 64


class _Threads:
    """The pool and the number of calls that run in it right now."""

    def __init__(self) -> None:
        # No thread starts before the first submit, so importing this module starts nothing.
        self._pool = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix=THREAD_NAME_PREFIX)
        self._lock = threading.Lock()
        self.active = 0

    async def run(self, function: Callable[[], Any]) -> Any:
        loop = asyncio.get_running_loop()
        context = contextvars.copy_context()
        return await loop.run_in_executor(self._pool, self._counted, context, function)

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
