"""Reports what the code of a run waits for: its tasks and their awaits, and its open calls.

Everything is read from the interpreter on demand, in the link's thread, so the report is available
even while agent code blocks the event loop.
"""

import asyncio
import concurrent.futures
import contextvars
import gc
import logging
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

from pydantic_core import to_json

from devui.runtime import plain_threads
from devui.runtime.calling import thread_of
from devui.runtime.jsonable import with_reprs
from devui.runtime.plain_threads import PlainThreads
from devui.wire.inspection import InspectedCall, InspectedTask, Inspection, InspectRun, Waiting
from devui.wire.messages import Debugger, Debugging, LoopBlocked
from devui.worker.debuggers import editor_is_attached, leave_alone, stopped_by
from devui.worker.engines.kit import FrameReader
from devui.worker.errors import innermost, places_of, sendable
from devui.worker.instruments.calls import Call, Calls
from devui.worker.instruments.gates import Gates
from devui.worker.link import Link
from devui.worker.output import current_run
from devui.worker.sessions import WireSessionService
from devui.worker.tools import result_schema_of

_LONGEST = 1000
"""The maximum length of a chain to follow, since awaits can be cyclic."""
_LINKS: Final = (types.CoroutineType, types.AsyncGeneratorType, types.GeneratorType)


@dataclass(frozen=True, slots=True)
class TaskStack:
    """The stack of a task and what it awaits."""

    frames: tuple[types.FrameType, ...]
    """The stack, outermost frame first."""
    end: object
    """The future, task or other object at the end of the chain; None for a running task."""
    running: bool


def awaited(task: asyncio.Task[Any], loop_frame: types.FrameType | None) -> TaskStack:
    """Follow a task's chain of awaits; `loop_frame` is the loop thread's frame if the task runs."""
    if loop_frame is not None:
        frames = _outermost_first(loop_frame)
        return TaskStack(_after(frames, _is_of_loop), None, running=True)
    links = list(_links(task))
    frames = [frame for link in links if (frame := _frame(link)) is not None]
    return TaskStack(tuple(frames), links[-1], running=False)


def run_of(task: asyncio.Task[Any], variable: contextvars.ContextVar[str | None]) -> str | None:
    """Return the value of a variable in a task's context; None if it isn't set."""
    for referent in gc.get_referents(task):  # Python 3.11 has no Task.get_context
        if isinstance(referent, contextvars.Context):
            return referent.get(variable)
    return None


def thread_frames(end: object) -> tuple[types.FrameType, ...]:
    """Return the frames of the plain function in a thread that a future waits for; () if none."""
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
    """Return whether the task is inside `async with lock`; `waits`: whether it waits to."""
    # The frame refers to `__aexit__` even before the lock is acquired.
    exits = sum(_leaves(each, lock) for link in _links(task) for each in gc.get_referents(link))
    return exits > waits


def _links(task: asyncio.Task[Any]) -> Iterator[object]:
    """Yield the chain of awaits, from the task's coroutine to the first object that isn't one."""
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


def _is_link(value: object) -> bool:
    return isinstance(value, _LINKS) or asyncio.isfuture(value)


def _leaves(value: object, lock: object) -> bool:
    if not isinstance(value, types.MethodType):
        return False
    return value.__name__ == "__aexit__" and value.__self__ is lock


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
    """Return the frames after the last match; () if none matches."""
    for number in range(len(frames) - 1, -1, -1):
        if is_last(frames[number]):
            return tuple(frames[number + 1 :])
    return ()


def _is_of_loop(frame: types.FrameType) -> bool:
    return frame.f_code.co_filename.endswith("asyncio/events.py")


def _is_of_pool(frame: types.FrameType) -> bool:
    return frame.f_code.co_filename == plain_threads.__file__


def _works_for(source: object, frame: types.FrameType) -> bool:
    """Return whether the frame of an executor's thread runs the work item of the future."""
    code = frame.f_code
    if code.co_qualname != "_WorkItem.run" or not code.co_filename.endswith("futures/thread.py"):
        return False
    return frame.f_locals["self"].future is source


def _source(end: asyncio.Future[Any]) -> object:
    """Return the executor's future that an asyncio future wraps, as in `asyncio.to_thread`."""
    # The callback that passes on cancellation has both futures in its closure.
    chained = (each for each, _ in end._callbacks or () if isinstance(each, types.FunctionType))
    for callback in chained:
        for cell in callback.__closure__ or ():
            if isinstance(cell.cell_contents, concurrent.futures.Future):
                return cell.cell_contents
    return None


logger = logging.getLogger("devui.worker")

_TASKS: Final = 100
_CHARACTERS: Final = 300

_DEVUI: Final[Mapping[CodeType, Waiting]] = {
    Gates.pass_by.__code__: "gate",
    WireSessionService.append_event.__code__: "commit",
    Link.request.__code__: "server",
    PlainThreads.run.__code__: "thread",
}
_ASYNCIO: Final[Mapping[str, Waiting]] = {
    "Lock.acquire": "lock",
    "Semaphore.acquire": "lock",
    "BoundedSemaphore.acquire": "lock",
    "Queue.get": "queue",
    "Queue.put": "queue",
    "Queue.join": "queue",
    "Event.wait": "signal",
    "Condition.wait": "signal",
    "Barrier.wait": "signal",
    "sleep": "time",
    "wait": "tasks",
    "wait_for": "tasks",
    "TaskGroup.__aexit__": "tasks",
}


class TaskInspector:
    """Inspects a loop's tasks from another thread; created in the loop's own thread."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, calls: Calls, frames: FrameReader, agents: Path
    ) -> None:
        self._loop = loop
        self._calls = calls
        self._runtime = frames
        self._agents = agents
        self._thread = threading.get_ident()

    def answer(self, message: InspectRun, *, blocked: float) -> Inspection | None:
        """Answer the server; `blocked` is how long the loop has been blocked, in seconds.

        Return None if the tasks can't be inspected.
        """
        try:
            return self._answer(message, blocked)
        # The inspected objects aren't ours and may change meanwhile; an error must not end the
        # thread that listens to the server.
        except Exception:
            logger.exception("cannot determine where run %s stands", message.run)
            return None

    def blocked(self, seconds: float) -> LoopBlocked:
        """Return which code blocks the loop."""
        unknown = LoopBlocked(seconds=seconds, stack="")
        try:
            return self._holder(unknown)
        except Exception:  # as above, for the watchdog's thread
            logger.exception("cannot determine what blocks the event loop")
            return unknown

    def _answer(self, message: InspectRun, blocked: float) -> Inspection:
        view = _View(self._stacks(message.run), self._runtime, self._agents)
        calls = [
            inspected for call in self._calls.of_run(message.run) if (inspected := view.call(call))
        ]
        return Inspection(
            number=message.number,
            run=message.run,
            blocked=blocked,
            calls=sorted(calls, key=lambda call: call.id),
            tasks=view.tasks(),
        )

    def _holder(self, unknown: LoopBlocked) -> LoopBlocked:
        task = asyncio.current_task(self._loop)
        run = run_of(task, current_run) if task else None
        chain = self._stacks(run).get(task) if task and run else None
        if run is None or chain is None:
            return unknown
        tools = [call.name for call in self._calls.of_run(run) if call.task is task and call.name]
        return replace(
            unknown,
            run=run,
            tool=next(iter(tools), ""),
            place=innermost(places_of(chain.frames, self._agents)),
        )

    def _stacks(self, run: str | None) -> "dict[asyncio.Task[Any], TaskStack]":
        """Return the stacks of a run's tasks, its own task first."""
        tasks = [task for task in asyncio.all_tasks(self._loop) if run_of(task, current_run) == run]
        tasks.sort(key=lambda task: (task.get_name() != run, len(task.get_name()), task.get_name()))
        current = asyncio.current_task(self._loop)
        top = sys._current_frames().get(self._thread)
        return {task: awaited(task, top if task is current else None) for task in tasks[:_TASKS]}


class _View:
    """A snapshot of the tasks of one run."""

    def __init__(
        self, stacks: "dict[asyncio.Task[Any], TaskStack]", runtime: FrameReader, agents: Path
    ) -> None:
        self._stacks = stacks
        self._runtime = runtime
        self._waiting = {**_DEVUI, **runtime.waits}
        self._agents = agents
        self._ids = {task: number for number, task in enumerate(stacks, 1)}
        self._who: dict[asyncio.Task[Any], Call] = {}
        """The open calls, by the task that waits for each."""

    def call(self, call: Call) -> InspectedCall | None:
        """Describe a call; None if its task has ended."""
        chain = self._stacks.get(call.task) if call.task else None
        if call.task is None or chain is None:
            return None
        self._who[call.task] = call
        frames = [*chain.frames, *thread_frames(chain.end)]
        inside = self._runtime.calls[call.kind]
        start = max((i for i, each in enumerate(frames) if each.f_code is inside), default=0)
        own = [place for place in places_of(frames[start:], self._agents) if place.own]
        model = call.payload.model if call.kind == "model" else ""
        return InspectedCall(
            id=call.number,
            kind=call.kind,
            name=call.name or str(model or "model"),
            about=_about(call),
            agent=call.context.agent_name,
            branch=call.context.branch,
            call=call.context.function_call_id,
            since=call.since,
            seconds=call.seconds,
            task=self._ids[call.task],
            place=own[-1] if own else None,
            thread=self._waits_for_function(chain),
            ending=call.override is not None,
            schema=result_schema_of(call.tool),
        )

    def tasks(self) -> list[InspectedTask]:
        """Describe all tasks. Call `call` for the open calls first."""
        return [self._task(task, chain) for task, chain in self._stacks.items()]

    def _task(self, task: "asyncio.Task[Any]", chain: TaskStack) -> InspectedTask:
        beside = thread_frames(chain.end)
        waits: Waiting = "thread" if beside else self._waits(chain)
        agent, branch = self._at_work(task, chain)
        before = self._before(chain, waits)
        return InspectedTask(
            id=self._ids[task],
            name=task.get_name()[:_CHARACTERS],
            agent=agent,
            branch=branch,
            waits=waits,
            on="a free thread" if waits == "thread" and not beside else "",
            awaits=self._ids.get(before) if before else None,
            places=places_of((*chain.frames, *beside), self._agents),
        )

    def _at_work(self, task: "asyncio.Task[Any]", chain: TaskStack) -> tuple[str, str | None]:
        """Return the agent and the branch that a task works for."""
        for frame in reversed(chain.frames):
            owner = self._runtime.agent_of(frame)
            if owner is not None:
                return owner
        call = self._who.get(task)
        return (call.context.agent_name, call.context.branch) if call else ("", None)

    def _before(self, chain: TaskStack, waits: Waiting) -> "asyncio.Task[Any] | None":
        """Return the task that must make progress before this one can."""
        if isinstance(chain.end, asyncio.Task):
            return chain.end
        if waits != "lock":
            return None
        lock = _locked(chain)
        for task, other in self._stacks.items():
            if has_entered(task, lock, waits=_locked(other) is lock):
                return task
        return None

    def _waits(self, chain: TaskStack) -> Waiting:
        if chain.running:
            return "running"
        kind: Waiting = "task" if isinstance(chain.end, asyncio.Task) else "other"
        if type(chain.end).__name__ == "_GatheringFuture":  # of asyncio.gather
            kind = "tasks"
        for frame in reversed(chain.frames):
            if not _is_asyncio(frame):
                return self._of_devui(chain, frame) or kind
            kind = _ASYNCIO.get(frame.f_code.co_qualname, kind)
        # A task of asyncio's own, awaited in place of what it wraps.
        return "tasks" if self._runtime.folder else kind

    def _of_devui(self, chain: TaskStack, innermost: FrameType) -> Waiting | None:
        """Return what the runtime or worker waits for; None if agent code waits."""
        codes = [frame.f_code for frame in chain.frames]
        kind = self._waiting.get(innermost.f_code)
        if kind == "server":  # an outer frame tells whether this is for a gate or a commit
            whose = [
                self._waiting[code]
                for code in codes
                if code in self._waiting and self._waiting[code] != "server"
            ]
            return whose[-1] if whose else kind
        file = innermost.f_code.co_filename
        if file == sys.modules[PlainThreads.__module__].__file__:
            return "thread"
        folder = self._runtime.folder
        return "tasks" if kind is None and folder and file.startswith(folder) else kind

    def _waits_for_function(self, chain: TaskStack) -> bool:
        return bool(thread_frames(chain.end)) or self._waits(chain) == "thread"


def _locked(chain: TaskStack) -> object:
    """Return the lock that a task waits for."""
    last = chain.frames[-1] if chain.frames else None
    if last is None or _ASYNCIO.get(last.f_code.co_qualname) != "lock" or not _is_asyncio(last):
        return None
    return last.f_locals.get("self")


def _is_asyncio(frame: FrameType) -> bool:
    return Path(frame.f_code.co_filename).parent.name == "asyncio"


def _about(call: Call) -> str:
    """Summarize the input of a call in one line."""
    payload = call.payload
    if call.kind == "model":
        count = len(payload.contents)
        return f"{count} message{'s' if count != 1 else ''}"
    try:
        text = to_json(with_reprs(payload), inf_nan_mode="strings", serialize_unknown=True).decode()
    except Exception:  # noqa: BLE001  arguments may be any object, and change meanwhile
        return ""
    return sendable(text[:_CHARACTERS] + ("…" if len(text) > _CHARACTERS else ""))


PATIENCE = 5.0
"""How long an iteration of the loop may take before the loop counts as blocked, in seconds."""
_BEAT = 0.5
_ACCIDENT = 2.0
"""How long an iteration of the loop may take on a busy machine, in seconds."""


class Watchdog:
    """A thread that checks whether the loop still runs."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        send: Callable[[LoopBlocked | Debugging], None],
        who: Callable[[float], LoopBlocked],
    ) -> None:
        """`who` returns the code that has blocked the loop for the given number of seconds."""
        self._loop = loop
        self._send = send
        self._who = who
        self._loop_thread = threading.get_ident()
        self._last = time.monotonic()
        self._stopped = threading.Event()
        self._debugger: Debugger | None = None

    def start(self) -> None:
        """Watch until `stop`; call this from the loop's thread."""
        thread = threading.Thread(target=self._watch, name="devui-watchdog", daemon=True)
        leave_alone(thread).start()

    def stop(self) -> None:
        """Stop watching."""
        self._stopped.set()

    @property
    def silence(self) -> float:
        """How long the loop has been blocked, in seconds; 0 up to `_ACCIDENT`, or in a debugger."""
        silent = time.monotonic() - self._last
        return silent if silent > _ACCIDENT and self._debugger is None else 0.0

    def _beat(self) -> None:
        self._last = time.monotonic()

    def _watch(self) -> None:
        is_reported = False
        while not self._stopped.wait(_BEAT):
            self._look_for_debugger()
            silent = time.monotonic() - self._last
            if silent >= PATIENCE and not is_reported and not self._is_debugged():
                self._send(replace(self._who(silent), stack=self._stack()))
                is_reported = True
            elif is_reported and silent < PATIENCE:
                self._send(LoopBlocked(seconds=0.0, stack=""))
                is_reported = False
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._beat)

    def _look_for_debugger(self) -> None:
        debugger = stopped_by()
        if debugger != self._debugger:
            self._debugger = debugger
            self._send(Debugging(debugger=debugger))

    def _is_debugged(self) -> bool:
        return self._debugger is not None or editor_is_attached()

    def _stack(self) -> str:
        frame = sys._current_frames().get(self._loop_thread)
        return "".join(traceback.format_stack(frame)[-12:]) if frame else ""
