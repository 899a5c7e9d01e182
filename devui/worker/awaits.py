"""What a task waits for: its frames, the outermost first, and what is awaited at the end of them.

Of a suspended task `asyncio.Task.get_stack` knows one frame only, so the chain of what awaits what
is walked here. Some links of it, such as the step of an asynchronous generator, tell nobody what
they hold; the garbage collector knows. Callable from any thread.
"""

import asyncio
import concurrent.futures
import contextvars
import gc
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from devui.runtime import plain_threads
from devui.runtime.calling import thread_of

_LONGEST = 1000
"""Links of a chain after which it is given up: code may await itself in a circle."""
_LINKS: Final = (types.CoroutineType, types.AsyncGeneratorType, types.GeneratorType)


@dataclass(frozen=True, slots=True)
class Awaited:
    """How a task stands."""

    frames: tuple[types.FrameType, ...]
    """The outermost first."""
    end: object
    """The future, task or other thing at the end of the chain; None for a task that is running."""
    running: bool


def awaited(task: asyncio.Task[Any], loop_frame: types.FrameType | None) -> Awaited:
    """Follow the chain of a task; `loop_frame` is where the loop's thread is, if in this task."""
    if loop_frame is not None:
        frames = _outermost_first(loop_frame)
        return Awaited(_after(frames, _is_of_loop), None, running=True)
    links = list(_links(task))
    frames = [frame for link in links if (frame := _frame(link)) is not None]
    return Awaited(tuple(frames), links[-1], running=False)


def run_of(task: asyncio.Task[Any], variable: contextvars.ContextVar[str | None]) -> str | None:
    """The value of a variable in the context of a task; None if it is not set."""
    for held in gc.get_referents(task):  # Python 3.11 has no Task.get_context
        if isinstance(held, contextvars.Context):
            return held.get(variable)
    return None


def thread_frames(end: object) -> tuple[types.FrameType, ...]:
    """The frames of the plain function in a thread that a future is the end of, if it is one."""
    if not isinstance(end, asyncio.Future):
        return ()
    tops = sys._current_frames()
    thread = thread_of(end)
    if thread is not None:
        return _after(_outermost_first(tops[thread]), _is_of_pool) if thread in tops else ()
    source = _source(end)
    if source is None:
        return ()
    stacks = (_after(_outermost_first(top), partial(_works_for, source)) for top in tops.values())
    return next((stack for stack in stacks if stack), ())


def has_entered(task: asyncio.Task[Any], lock: object, *, waits: bool) -> bool:
    """Whether the task is inside an `async with` of the lock; `waits`: it stands before one."""
    # The way out of an `async with` is kept ready in the frame, from before the lock is had.
    kept = sum(_leaves(held, lock) for link in _links(task) for held in gc.get_referents(link))
    return kept > waits


def _links(task: asyncio.Task[Any]) -> Iterator[object]:
    """What awaits what, from the task's coroutine to what is no coroutine."""
    link: object = task.get_coro()
    for _ in range(_LONGEST):
        yield link
        following = _following(link)
        if following is None:
            return
        link = following


def _frame(link: object) -> types.FrameType | None:
    for name in ("cr_frame", "ag_frame", "gi_frame"):
        frame = getattr(link, name, None)
        if isinstance(frame, types.FrameType):
            return frame
    return None


def _following(link: object) -> object:
    if isinstance(link, types.CoroutineType):
        return link.cr_await
    if isinstance(link, types.AsyncGeneratorType):
        return link.ag_await
    if isinstance(link, types.GeneratorType):
        return link.gi_yieldfrom
    return None if asyncio.isfuture(link) else next(filter(_is_link, gc.get_referents(link)), None)


def _is_link(held: object) -> bool:
    return isinstance(held, _LINKS) or asyncio.isfuture(held)


def _leaves(held: object, lock: object) -> bool:
    if not isinstance(held, types.MethodType):
        return False
    return held.__name__ == "__aexit__" and held.__self__ is lock


def _outermost_first(top: types.FrameType) -> list[types.FrameType]:
    frames: list[types.FrameType] = []
    frame: types.FrameType | None = top
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames[::-1]


def _after(
    frames: list[types.FrameType], is_last: Callable[[types.FrameType], bool]
) -> tuple[types.FrameType, ...]:
    """The frames after the last one that is so; none if none is."""
    for number in range(len(frames) - 1, -1, -1):
        if is_last(frames[number]):
            return tuple(frames[number + 1 :])
    return ()


def _is_of_loop(frame: types.FrameType) -> bool:
    return frame.f_code.co_filename.endswith("asyncio/events.py")


def _is_of_pool(frame: types.FrameType) -> bool:
    return frame.f_code.co_filename == plain_threads.__file__


def _works_for(source: object, frame: types.FrameType) -> bool:
    """Whether the frame of an executor's thread calls what is the future's."""
    code = frame.f_code
    if code.co_qualname != "_WorkItem.run" or not code.co_filename.endswith("futures/thread.py"):
        return False
    return frame.f_locals["self"].future is source


def _source(end: asyncio.Future[Any]) -> object:
    """The future of an executor that an asyncio future was made of, as by `asyncio.to_thread`."""
    # What carries the one's cancellation to the other holds both.
    chained = (each for each, _ in end._callbacks or () if isinstance(each, types.FunctionType))
    for callback in chained:
        for cell in callback.__closure__ or ():
            if isinstance(cell.cell_contents, concurrent.futures.Future):
                return cell.cell_contents
    return None
