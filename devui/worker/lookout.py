"""Says where the code of a run stands: its tasks, what each waits for, the calls under way.

All of it is read off the interpreter when somebody asks, in the thread of the link; so it can be
told while agent code holds the event loop.
"""

import asyncio
import logging
import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

from pydantic_core import to_json

from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.merging import merged, produce
from devui.runtime.flows.llm_flows.event_relay import EventRelay
from devui.runtime.flows.llm_flows.model_call import ModelCall
from devui.runtime.flows.llm_flows.tool_calls import ToolCall
from devui.runtime.iterators import with_reprs
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.plain_threads import PlainThreads
from devui.runtime.workflow.node_runner import perform
from devui.wire.messages import Blocked
from devui.wire.standing import CallStanding, Look, Seen, TaskStanding, Waiting
from devui.worker.awaits import Awaited, awaited, has_entered, run_of, thread_frames
from devui.worker.calls import Call, CallKind, Calls
from devui.worker.faults import sendable
from devui.worker.gates import Gates
from devui.worker.link import Link
from devui.worker.output import current_run
from devui.worker.places import innermost, places_of
from devui.worker.schemas import result_schema_of
from devui.worker.sessions import WireSessionService

logger = logging.getLogger("devui.worker")

_TASKS: Final = 100
_CHARACTERS: Final = 300

_DEVUI: Final[Mapping[CodeType, Waiting]] = {
    Gates.pass_by.__code__: "gate",
    WireSessionService.append_event.__code__: "commit",
    EventRelay.emit.__code__: "commit",
    produce.__code__: "commit",
    merged.__code__: "tasks",
    EventRelay.events.__code__: "tasks",
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
_INSIDE: Final[Mapping[CallKind, CodeType]] = {
    "model": ModelCall.responses.__code__,
    "tool": ToolCall.run.__code__,
}
"""The code that every call of the kind is made by."""


class Lookout:
    """Sees the tasks of a loop from beside it; to be made in the thread the loop runs in."""

    def __init__(self, loop: asyncio.AbstractEventLoop, calls: Calls, agents: Path) -> None:
        self._loop = loop
        self._calls = calls
        self._agents = agents
        self._thread = threading.get_ident()

    def answer(self, message: Look, *, blocked: float) -> Seen | None:
        """Answer the server; `blocked` is for how many seconds the loop has not turned.

        None if it cannot be told.
        """
        try:
            return self._seen(message, blocked)
        # What is walked belongs to others and goes on meanwhile; the thread that hears the server
        # must not end of it.
        except Exception:
            logger.exception("it cannot be told where run %s stands", message.run)
            return None

    def blocked(self, seconds: float) -> Blocked:
        """Who holds the loop."""
        unknown = Blocked(seconds=seconds, stack="")
        try:
            return self._holder(unknown)
        except Exception:  # as above, for the watchdog's thread
            logger.exception("it cannot be told who holds the event loop")
            return unknown

    def _seen(self, message: Look, blocked: float) -> Seen:
        view = _View(self._standing(message.run), self._agents)
        calls = [told for call in self._calls.of_run(message.run) if (told := view.call(call))]
        return Seen(
            look=message.look,
            run=message.run,
            blocked=blocked,
            calls=sorted(calls, key=lambda call: call.id),
            tasks=view.tasks(),
        )

    def _holder(self, unknown: Blocked) -> Blocked:
        task = asyncio.current_task(self._loop)
        run = run_of(task, current_run) if task else None
        stood = self._standing(run).get(task) if task and run else None
        if run is None or stood is None:
            return unknown
        tools = [call.name for call in self._calls.of_run(run) if call.task is task and call.name]
        return replace(
            unknown,
            run=run,
            tool=next(iter(tools), ""),
            place=innermost(places_of(stood.frames, self._agents)),
        )

    def _standing(self, run: str | None) -> "dict[asyncio.Task[Any], Awaited]":
        """How the tasks of a run stand, its own first."""
        tasks = [task for task in asyncio.all_tasks(self._loop) if run_of(task, current_run) == run]
        tasks.sort(key=lambda task: (task.get_name() != run, len(task.get_name()), task.get_name()))
        current = asyncio.current_task(self._loop)
        top = sys._current_frames().get(self._thread)
        return {task: awaited(task, top if task is current else None) for task in tasks[:_TASKS]}


class _View:
    """The tasks of one run at one moment."""

    def __init__(self, standing: "dict[asyncio.Task[Any], Awaited]", agents: Path) -> None:
        self._standing = standing
        self._agents = agents
        self._ids = {task: number for number, task in enumerate(standing, 1)}
        self._who: dict[asyncio.Task[Any], Call] = {}
        """The calls of tasks that do nothing else."""

    def call(self, call: Call) -> CallStanding | None:
        """A call, unless its task has ended meanwhile."""
        stood = self._standing.get(call.task) if call.task else None
        if call.task is None or stood is None:
            return None
        self._who[call.task] = call
        frames = [*stood.frames, *thread_frames(stood.end)]
        inside = _INSIDE[call.kind]
        begun = max((i for i, each in enumerate(frames) if each.f_code is inside), default=0)
        own = [place for place in places_of(frames[begun:], self._agents) if place.own]
        model = call.given.model if isinstance(call.given, LlmRequest) else ""
        return CallStanding(
            id=call.number,
            kind=call.kind,
            name=call.name or str(model or "model"),
            about=_about(call.given),
            agent=call.context.agent_name,
            branch=call.context.branch,
            call=call.context.function_call_id,
            since=call.since,
            seconds=call.seconds,
            task=self._ids[call.task],
            place=own[-1] if own else None,
            thread=_waits_for_function(stood),
            told=call.instead is not None,
            schema=result_schema_of(call.tool),
        )

    def tasks(self) -> list[TaskStanding]:
        """All of them; to be asked for after the calls."""
        return [self._task(task, stood) for task, stood in self._standing.items()]

    def _task(self, task: "asyncio.Task[Any]", stood: Awaited) -> TaskStanding:
        beside = thread_frames(stood.end)
        waits: Waiting = "thread" if beside else _waits(stood)
        agent, branch = self._at_work(task, stood)
        before = self._before(stood, waits)
        return TaskStanding(
            id=self._ids[task],
            name=task.get_name()[:_CHARACTERS],
            agent=agent,
            branch=branch,
            waits=waits,
            on="a free thread" if waits == "thread" and not beside else "",
            awaits=self._ids.get(before) if before else None,
            places=places_of((*stood.frames, *beside), self._agents),
        )

    def _at_work(self, task: "asyncio.Task[Any]", stood: Awaited) -> tuple[str, str | None]:
        """The agent and the branch of a task."""
        for frame in reversed(stood.frames):
            known = _agent_of(frame)
            if known is not None:
                return known
        call = self._who.get(task)
        return (call.context.agent_name, call.context.branch) if call else ("", None)

    def _before(self, stood: Awaited, waits: Waiting) -> "asyncio.Task[Any] | None":
        """The task that has to go on before this one can."""
        if isinstance(stood.end, asyncio.Task):
            return stood.end
        if waits != "lock":
            return None
        lock = _locked(stood)
        for task, other in self._standing.items():
            if has_entered(task, lock, waits=_locked(other) is lock):
                return task
        return None


def _locked(stood: Awaited) -> object:
    """The lock that a task waits for."""
    last = stood.frames[-1] if stood.frames else None
    if last is None or _ASYNCIO.get(last.f_code.co_qualname) != "lock" or not _is_asyncio(last):
        return None
    return last.f_locals.get("self")


def _waits(stood: Awaited) -> Waiting:
    if stood.running:
        return "running"
    kind: Waiting = "task" if isinstance(stood.end, asyncio.Task) else "other"
    if type(stood.end).__name__ == "_GatheringFuture":  # of asyncio.gather
        kind = "tasks"
    for frame in reversed(stood.frames):
        if not _is_asyncio(frame):
            return _of_devui(stood, frame) or kind
        kind = _ASYNCIO.get(frame.f_code.co_qualname, kind)
    return kind


def _of_devui(stood: Awaited, innermost: FrameType) -> Waiting | None:
    """What the runtime or the worker waits for there; None where agent code does."""
    codes = [frame.f_code for frame in stood.frames]
    known = _DEVUI.get(innermost.f_code)
    if known == "server":  # for whom: the gate and the commit are further out
        whose = [_DEVUI[code] for code in codes if code in _DEVUI and _DEVUI[code] != "server"]
        return whose[-1] if whose else known
    if innermost.f_code.co_filename == sys.modules[PlainThreads.__module__].__file__:
        return "thread"
    return known


def _waits_for_function(stood: Awaited) -> bool:
    return bool(thread_frames(stood.end)) or _waits(stood) == "thread"


def _is_asyncio(frame: FrameType) -> bool:
    return Path(frame.f_code.co_filename).parent.name == "asyncio"


def _agent_of(frame: FrameType) -> tuple[str, str | None] | None:
    if frame.f_code is BaseAgent._run_between_callbacks.__code__:
        held = frame.f_locals
        return str(held["self"].name), held["parent_context"].branch
    if frame.f_code is produce.__code__ and "produced" in frame.f_locals:
        event = frame.f_locals["produced"].event
        return event.author, event.branch
    if frame.f_code is perform.__code__:
        start = frame.f_locals["start"]
        return str(start.node.name), start.parent.invocation.branch
    return None


def _about(given: Any) -> str:
    """What a call was given, in one line."""
    if isinstance(given, LlmRequest):
        count = len(given.contents)
        return f"{count} message{'s' if count != 1 else ''}"
    try:
        text = to_json(with_reprs(given), inf_nan_mode="strings", serialize_unknown=True).decode()
    except Exception:  # noqa: BLE001  arguments may be any object of anybody's, changing meanwhile
        return ""
    return sendable(text[:_CHARACTERS] + ("…" if len(text) > _CHARACTERS else ""))
