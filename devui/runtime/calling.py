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
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Iterator
from dataclasses import is_dataclass
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, overload

from devui.runtime.mistakes import brief, place
from devui.runtime.plain_threads import PlainThreads

# What functions, partials and objects that can be called are named, and say (adk-runtime 8.2).


_OF_PARTIALS = functools.partial.__doc__
_OF_CALLS = type(len).__call__.__doc__
"""What Python says of partials, and of `__call__` of whatever has no words of its own."""


def unpartialled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that a partial, or several of them, calls."""
    *_, target = _chain(function)
    return target


def name_of(function: Callable[..., Any]) -> str | None:
    """The name of a function or a class, or one that a partial or an object was given.

    A partial without a name has that of what it calls (adk-runtime 8.2). None for an object that
    has none.
    """
    for each in _chain(function):
        try:
            if each.__name__:
                return str(each.__name__)
        except AttributeError:  # partials and objects that can be called
            continue
    return None


def doc_of(function: Callable[..., Any]) -> str:
    """The docstring, without its indentation; of a partial, its own or that of what it calls.

    Of an object, its own or that of its class, or else that of its `__call__`.
    """
    for each in _chain(function):
        text = _docstring(each)
        if text and each.__doc__ != _OF_PARTIALS:
            return text
    target = unpartialled(function)
    if inspect.isroutine(target) or inspect.isclass(target):
        return ""  # type(called).__call__ is Python's own then, and says nothing
    of_call = inspect.getdoc(type(target).__call__)
    return of_call if of_call and of_call != _OF_CALLS else ""


def annotated(target: Callable[..., Any]) -> Callable[..., Any]:
    """The function whose annotations hold for what is called, which is no partial.

    Of an object that `functools.update_wrapper` has made like a function, it is that function.
    """
    if inspect.isroutine(target) or inspect.isclass(target):
        return target
    wrapped = inspect.unwrap(target)
    return type(target).__call__ if wrapped is target else annotated(wrapped)


def _docstring(target: Callable[..., Any]) -> str:
    if inspect.isclass(target):
        return inspect.cleandoc(target.__doc__ or "")
    text = inspect.getdoc(target) or ""
    kind = type(target)
    if is_dataclass(kind) and text == f"{kind.__name__}{inspect.signature(kind)}".removesuffix(
        " -> None"
    ):
        return ""  # which Python has made of its fields
    return text


def _chain(function: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """It, what it calls if it is a partial, and so on."""
    yield function
    while isinstance(function, functools.partial):
        function = function.func
        yield function


P = ParamSpec("P")
T = TypeVar("T")

THREAD_NAME_PREFIX = "devui-sync"
MAX_THREADS = 64
_END = object()

_threads = PlainThreads(MAX_THREADS, THREAD_NAME_PREFIX)

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


# Callbacks as users write them: one or a list, sync or async, with names or by position.
#
# See adk-runtime 6.5.


_BY_POSITION = (
    "tool",
    "args",
    "tool_context",
    "response",
    "tool_response",
    "callback_context",
    "llm_request",
    "llm_response",
    "error",
)
"""The order in which values are passed to a callback whose parameters have other names."""

Callback = Callable[..., Any]

Callbacks = Callback | list[Callback] | None
"""What the fields of agents for callbacks take."""


def as_list(callbacks: Callbacks) -> list[Callback]:
    """The callbacks of an agent's field, which may hold none, one or several."""
    if callbacks is None:
        return []
    return callbacks if isinstance(callbacks, list) else [callbacks]


def check_callbacks(name: str, callbacks: Any) -> None:
    """Refuse what cannot be called.

    Raises:
        ValueError: a callback of the field `name` is no function.
    """
    several = isinstance(callbacks, list)
    for callback in as_list(callbacks):
        if not callable(callback):
            raise ValueError(  # noqa: TRY004  pydantic tells ValueErrors
                f"`{name}` {'holds' if several else 'is'} {brief(callback)}; give a function, or a"
                " list of functions."
            )


def check_result(result: object, kind: type, name: str, callbacks: list[Callback]) -> None:
    """Refuse a result of another type than the callbacks of the field `name` may return.

    Raises:
        TypeError: it is another type.
    """
    if not isinstance(result, kind):
        places = ", ".join(place(callback) for callback in callbacks)
        raise TypeError(
            f"`{name}` returned {brief(result)}: {places} must return {kind.__name__} to answer,"
            " or None to go on."
        )


def is_truthy(result: object) -> bool:
    """Agent and model callbacks: a truthy result ends the chain (adk-runtime 6.5)."""
    return bool(result)


def is_not_none(result: object) -> bool:
    """Error and tool callbacks: any result but None ends the chain (adk-runtime 6.5)."""
    return result is not None


async def first_result(
    callbacks: Iterable[Callback], stops: Callable[[object], bool], /, **values: Any
) -> Any:
    """Call the callbacks in order until a result `stops` the chain; that result, or None.

    Values are passed by name; to a callback that has other names, by position. Sync callbacks run
    in threads. What a callback raises passes through.

    Raises:
        TypeError: a callback takes the values neither way.
    """
    for callback in callbacks:
        if _takes_names(callback, values):
            result = await call(callback, **values)
        else:
            positional = sorted(values, key=_BY_POSITION.index)
            result = await call(callback, *(values[name] for name in positional))
        if stops(result):
            return result
    return None


def _takes_names(callback: Callback, values: dict[str, Any]) -> bool:
    """Whether the values go by name; False if only by position."""
    try:
        signature = inspect.signature(callback)
    except (TypeError, ValueError):  # built-ins without a signature
        return True
    if _binds(signature, **values):
        return True
    if _binds(signature, *values.values()):
        return False
    raise TypeError(
        f"The callback {place(callback)} takes {signature}, but is called with"
        f" {', '.join(values)}. Give it these parameters."
    )


def _binds(signature: inspect.Signature, *args: Any, **kwargs: Any) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True
