"""Calling what users wrote: callbacks, tools and hooks, sync or async.

Async functions run on the event loop. Plain functions run in threads of one dedicated pool, so
that a blocking callback or tool never holds up the loop (runtime seed: "sync callbacks/tools").
Most of them return at once, and waking the loop up for them would cost more than they do: so
the caller waits a moment for them on the spot.
A thread cannot be killed: when the awaiting task is cancelled the function keeps running. Such
leftovers show in `active_threads()`.
"""

import asyncio
import functools
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, overload

from devui.runtime.mistakes import place
from devui.runtime.plain_threads import PlainThreads

P = ParamSpec("P")
T = TypeVar("T")

THREAD_NAME_PREFIX = "devui-sync"
MAX_THREADS = 64
_END = object()

_threads = PlainThreads(MAX_THREADS, THREAD_NAME_PREFIX, near=True)

_OF_THREADS = {
    "RuntimeError": ("no running event loop", "no current event loop"),
    "ProgrammingError": ("SQLite objects created in a thread",),
}
"""What Python says of code that does not run in the thread it was made for."""


def active_threads() -> int:
    """Number of sync calls that run in threads right now, those of cancelled callers included."""
    return len(_threads.running)


def plain_function_of(task: asyncio.Task[Any]) -> asyncio.Future[Any] | None:
    """The end of the plain function that the task waits for; None if it waits for something else.

    Cancelling such a task does not stop the function, but loses what it returns.
    """
    return _threads.awaited.get(task)


def thread_of(future: asyncio.Future[Any]) -> int | None:
    """The ident of the thread of the plain function whose end a task awaits; None if it is none."""
    return _threads.thread_of(future)


def end_of_plain_function(task: asyncio.Task[Any]) -> asyncio.Future[None] | None:
    """The end of the plain function that the task waits for, for somebody who cancels the task.

    It comes when the function has returned or raised in its thread. None if the task waits for
    something else. To be called in the task's loop, and before the task is cancelled.
    """
    return _threads.end_for_others(task)


def is_async_callable(function: Callable[..., Any]) -> bool:
    """Whether calling `function` gives a coroutine: `async def`, also as partial or `__call__`."""
    while isinstance(function, functools.partial):
        function = function.func
    if type(function) is FunctionType and not function.__dict__:  # nobody has marked it as one
        return bool(function.__code__.co_flags & inspect.CO_COROUTINE)
    if inspect.iscoroutinefunction(function):
        return True
    is_object = not isinstance(function, FunctionType)
    return is_object and inspect.iscoroutinefunction(type(function).__call__)


@overload
async def call(fn: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T: ...
@overload
async def call(fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...
async def call(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call `fn` and return its result, awaited if it is awaitable.

    Coroutine functions run on the loop; everything else runs in a thread, with the caller's
    context variables; what it sets of them holds for the caller. Exceptions pass through
    unchanged, save StopIteration (RuntimeError); one of the thread gets a note on what to do.
    """
    if is_async_callable(fn):
        return await fn(*args, **kwargs)
    try:
        result = await _threads.run(functools.partial(fn, *args, **kwargs))
    except Exception as error:
        if _wants_the_loops_thread(error):
            error.add_note(
                f"{place(fn)} is a plain function, so it runs in a thread; define it with"
                " `async def` to run it on the event loop, in the loop's own thread."
            )
        raise
    if inspect.isawaitable(result):  # e.g. a lambda that returns a coroutine
        return await result
    return result


async def stepped_in_threads(items: Generator[Any, Any, Any]) -> AsyncGenerator[Any, None]:
    """What a plain generator yields, each step of it taken in a thread.

    It is closed at the end, there too; but not when the caller leaves in the middle of a step, as
    nobody can stop a thread.
    """
    try:
        while (item := await call(next, items, _END)) is not _END:
            yield item
    finally:
        if inspect.getgeneratorstate(items) != inspect.GEN_RUNNING:
            await call(items.close)


def _wants_the_loops_thread(error: Exception) -> bool:
    signs = _OF_THREADS.get(type(error).__name__, ())
    return any(sign in str(error) for sign in signs)
