"""Executes the function calls of one model answer (adk-runtime 8.3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Coroutine, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from google.genai import types

from devui.runtime.agents.invocation_events import (
    REQUEST_CONFIRMATION,
    REQUEST_CREDENTIAL,
    REQUEST_INPUT,
)
from devui.runtime.calling import plain_function_of
from devui.runtime.cancellation import cancel_here, cancelled_elsewhere, stop
from devui.runtime.copying import copy_with
from devui.runtime.events.event import Event, NodeInfo
from devui.runtime.events.event_actions import EventActions
from devui.runtime.flows.llm_flows.history import CLIENT_ID
from devui.runtime.flows.llm_flows.tool_calls import ToolCall
from devui.runtime.flows.llm_flows.tool_steps import structured_answer
from devui.runtime.flows.llm_flows.user_requests import with_requests
from devui.runtime.platform.uuid import new_uuid
from devui.runtime.telemetry.switch import instruments
from devui.runtime.time_limits import clock_stopped

if TYPE_CHECKING:
    from devui.runtime.agents.abort_switch import Passage
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event_actions import ToolConfirmation
    from devui.runtime.tools.base_tool import BaseTool


# Runs the tool calls of one answer concurrently (adk-runtime 8.3; resume seed).


_Task = asyncio.Task["types.Part | None"]
CallResults = list[tuple["types.Part | None", "ToolCall"]]


class _Batch:
    """The running calls of one answer; tells when their caller is about to continue."""

    def __init__(self, tasks: Sequence[_Task]) -> None:
        self.tasks = tasks
        self.ends = False
        """Whether the calls are being ended because one has failed."""

    def is_carrying(self) -> bool:
        """Return whether all calls have ended, or one has failed and the others still run."""
        if all(task.done() for task in self.tasks):
            return True
        return not self.ends and any(map(_has_failed, self.tasks))


async def run_batch(
    calls: Sequence[ToolCall], passages: list[Passage]
) -> tuple[CallResults, BaseException | None]:
    """Return what the calls returned, in order, and the error of the first one that failed.

    When a call fails, the others end as if plain functions took no time: a call that waits for
    something is cancelled; a call in a thread, which can't be stopped, finishes and keeps its
    result. So thread timing doesn't decide which calls a resumed invocation runs again. This holds
    for every failure, including `sys.exit()` in a tool: the caller stores the finished results
    before it raises the error.
    """
    tasks = [asyncio.create_task(call.run()) for call in calls]
    batch = _Batch(tasks)
    passages.append(batch)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        batch.ends = True
        await _wind_up(tasks)
    except BaseException:  # the run itself is cancelled
        await stop(tasks)
        raise
    finally:
        passages.remove(batch)
    results: CallResults = []
    error: BaseException | None = None
    for task, call in zip(tasks, calls, strict=True):
        if task.cancelled():
            if not task.cancelling():  # nor was it cancelled here
                error = error or cancelled_elsewhere(f"A callback of tool {call.name!r}")
            continue
        failure = task.exception()
        if failure is None:
            results.append((task.result(), call))
        elif error is None:
            error = failure
    return results, error


def _has_failed(task: _Task) -> bool:
    return task.done() and not task.cancelled() and task.exception() is not None


async def _wind_up(tasks: Sequence[_Task]) -> None:
    while pending := [task for task in tasks if not task.done()]:
        threads = [future for task in pending if (future := plain_function_of(task))]
        for task in pending:
            if plain_function_of(task) is None and not task.cancelling():
                task.cancel()
        await asyncio.wait([*threads, *pending], return_when=asyncio.FIRST_COMPLETED)


# Passes the events of running tools into the session (adk-runtime 12.8).


T = TypeVar("T")


class EventRelay(Generic[T]):
    """Yields what tools emit while they run; a tool continues once its event is committed."""

    def __init__(self, ctx: InvocationContext) -> None:
        self._ctx = ctx
        self._queue: asyncio.Queue[tuple[Event, asyncio.Event] | None] = asyncio.Queue()
        self._result: T | None = None
        self._task: asyncio.Task[T] | None = None
        self._is_abandoned = False
        """Whether the consumer has left, so that events are no longer committed."""

    @property
    def result(self) -> T:
        """What the work returned; RuntimeError before `events` has ended."""
        if self._result is None:
            raise RuntimeError("The tools are still running.")
        return self._result

    async def events(self, work: Coroutine[Any, Any, T]) -> AsyncGenerator[Event, None]:
        """Do the work in a task and yield its events; raises what the work raises.

        The work is cancelled when the consumer leaves.
        """
        passages = self._ctx.abort_switch.passages
        task = self._task = asyncio.create_task(work)
        passages.append(self)
        task.add_done_callback(lambda _: self._queue.put_nowait(None))
        self._ctx.emit = self.emit
        try:
            while (item := await self._queue.get()) is not None:
                event, committed = item
                yield event
                committed.set()
            self._result = await task
        finally:
            passages.remove(self)
            self._ctx.emit = None
            self._is_abandoned = True
            if not task.done():
                await stop([task])

    def is_carrying(self) -> bool:
        """Return whether an event or the result of the work is waiting to be consumed."""
        return not self._queue.empty() or (self._task is not None and self._task.done())

    async def emit(self, event: Event) -> None:
        """Queue an event, and return once it is committed."""
        if self._is_abandoned:  # the tool ignored its cancellation, or is about to be cancelled
            await cancel_here()
        committed = asyncio.Event()
        self._queue.put_nowait((event, committed))
        with clock_stopped():
            await committed.wait()


REQUEST_CONFIRMATION_FUNCTION_CALL_NAME = REQUEST_CONFIRMATION
REQUEST_EUC_FUNCTION_CALL_NAME = REQUEST_CREDENTIAL
REQUEST_INPUT_FUNCTION_CALL_NAME = REQUEST_INPUT
"""The names by which clients recognize requests; ADK's names (LlmAgent seed; adk-runtime 8)."""

AF_FUNCTION_CALL_ID_PREFIX = CLIENT_ID
"""The prefix of ids made up here for calls to which the model gave none."""

_NO_SIGNALS: dict[str, Any] = {
    "state_delta": {},
    "artifact_delta": {},
    "skip_summarization": None,
    "render_ui_widgets": None,
}
"""The actions that a plain result may set, with their empty values."""


_ANSWER = types.Content(role="user")


class CallsOutcome(NamedTuple):
    """The outcome of the calls of one answer."""

    event: Event | None
    """One response for each call that has one, in the order of the calls."""
    error: BaseException | None = None
    """What the first failing call raised; `event` has what can be kept of the others."""


def generate_client_function_call_id() -> str:
    """Return an id for a call that has none."""
    return f"{CLIENT_ID}{new_uuid()}"


def give_ids(calls: Sequence[types.FunctionCall]) -> None:
    """Give an id to each call that has none, so that its response can refer to it."""
    for call in calls:
        if not call.id:
            call.id = generate_client_function_call_id()


def get_long_running_function_calls(
    function_calls: Sequence[types.FunctionCall], tools_dict: Mapping[str, BaseTool]
) -> set[str]:
    """Return the ids of the calls whose tools may answer later."""
    return {
        call.id
        for call in function_calls
        if call.id and (tool := tools_dict.get(call.name or "")) and tool.is_long_running
    }


def find_event_by_function_call_id(events: Sequence[Event], function_call_id: str) -> Event | None:
    """Return the latest event that made the call, or None."""
    for event in reversed(events):
        if any(call.id == function_call_id for call in event.get_function_calls()):
            return event
    return None


def find_matching_function_call(
    events: Sequence[Event], function_response_event: Event | None = None
) -> Event | None:
    """Return the event with the call that an event, by default the last one, answers.

    If the event answers several calls, the first counts.
    """
    response_event = function_response_event or (events[-1] if events else None)
    responses = response_event.get_function_responses() if response_event else []
    if not events or response_event is None or not responses or not responses[0].id:
        return None
    earlier = events[:-1] if events[-1].id == response_event.id else events
    return find_event_by_function_call_id(earlier, responses[0].id)


async def handle_function_calls_async(
    invocation_context: InvocationContext,
    function_call_event: Event,
    tools_dict: Mapping[str, BaseTool],
    filters: Collection[str] | None = None,
    tool_confirmation_dict: Mapping[str, ToolConfirmation] | None = None,
) -> Event | None:
    """Run the calls of an event, or those whose ids are in `filters`, and gather the responses.

    Raises what the first failing call raised.
    """
    calls = [
        call
        for call in function_call_event.get_function_calls()
        if not filters or call.id in filters
    ]
    outcome = await execute(invocation_context, calls, tools_dict, tool_confirmation_dict)
    if outcome.error is not None:
        raise outcome.error
    return outcome.event


async def execute(
    ctx: InvocationContext,
    calls: Sequence[types.FunctionCall],
    tools: Mapping[str, BaseTool],
    confirmations: Mapping[str, ToolConfirmation] | None = None,
) -> CallsOutcome:
    """Run all calls concurrently and gather their responses in one event.

    `confirmations` are the user's decisions on calls, by call id.
    """
    if not calls:
        return CallsOutcome(None)
    decisions = confirmations or {}
    running = [ToolCall(ctx, call, tools, decisions.get(call.id or "")) for call in calls]
    try:
        if len(running) == 1:
            part = await running[0].run()
            return CallsOutcome(_response_event(ctx, [(part, running[0])], running))
        results, error = await run_batch(running, ctx.abort_switch.passages)
        if error is not None:
            results = [(part, call) for part, call in results if part is None or _is_plain(call)]
        return CallsOutcome(_response_event(ctx, results, running), error)
    except BaseException:  # the run was interrupted: the spans of its calls end with it
        for call in running:
            if call.span is not None:
                call.span.end(None, None)
        raise


def _response_event(
    ctx: InvocationContext, results: CallResults, calls: Sequence[ToolCall]
) -> Event | None:
    """Return the event of the responses, if there are any, and end the spans of the calls."""
    event, spans = _event(ctx, results), instruments()
    if spans is None:
        return event
    parts = {id(call): part for part, call in results}
    for call in calls:
        if call.span is not None:
            call.span.end(parts.get(id(call)), event)
    if event is not None and len(event.get_function_responses()) > 1:
        spans.record_merge(ctx, event)
    return event


def _is_plain(call: ToolCall) -> bool:
    """Return whether the call gave a plain result; one that redirects control must run again.

    A failed turn carries out no transfer and asks for no confirmation (adk-runtime 8.3).
    """
    return call.actions.model_copy(update=_NO_SIGNALS) == EventActions()


def _event(ctx: InvocationContext, results: CallResults) -> Event | None:
    """Return the event of the responses; None if there are none and nothing changed."""
    parts = [
        each for part, call in results for each in (part, call.spoken_part) if each is not None
    ]
    actions = [
        call.actions if part is not None else _changes(call.actions) for part, call in results
    ]
    if not parts and not any(each.state_delta or each.artifact_delta for each in actions):
        return None
    return Event.assemble(
        invocation_id=ctx.invocation_id,
        author=ctx.agent.name if ctx.agent else "",
        branch=ctx.branch,
        node_info=NodeInfo(path=ctx.node_path or ""),
        content=copy_with(_ANSWER, parts=parts) if parts else None,
        actions=actions[0] if len(actions) == 1 else _merge(actions, ctx.session.state),
    )


def _changes(actions: EventActions) -> EventActions:
    """Return what a long-running tool changed before it let the model wait, without its signals."""
    return EventActions(state_delta=actions.state_delta, artifact_delta=actions.artifact_delta)


def _merge(all_actions: Sequence[EventActions], live: Mapping[str, Any]) -> EventActions:
    """Merge all changes: dicts are joined, widgets listed, and otherwise the last value wins.

    `live` is the session's state, which has received all writes.
    """
    changes: dict[str, Any] = {}
    for actions in all_actions:
        for name, value in actions:
            if value is not None:
                changes[name] = _join(changes.get(name), value)
    changes["state_delta"] = _merge_state([each.state_delta for each in all_actions], live)
    widgets = [widget for each in all_actions for widget in each.render_ui_widgets or []]
    return EventActions.model_construct(**{**changes, "render_ui_widgets": widgets or None})


def _merge_state(deltas: Sequence[dict[str, Any]], live: Mapping[str, Any]) -> dict[str, Any]:
    """Merge what several calls wrote; the last write to a key wins.

    Calls end in any order, and each may build on another's writes: the latest value is the one in
    the live state, whichever call wrote it.
    """
    writes = [write for delta in deltas for write in delta.items()]
    if len(writes) > len({key for key, _ in writes}):
        now = dict(live)  # copying all of it doesn't count as a read (docs/guide/debugging.md)
        writes.sort(key=lambda write: write[1] is now.get(write[0]))
    state_delta: dict[str, Any] = {}
    for key, value in writes:
        state_delta[key] = _join(state_delta.get(key), value)
    return state_delta


def _join(earlier: Any, later: Any) -> Any:
    if isinstance(earlier, dict) and isinstance(later, dict):
        overrides = {key: _join(earlier.get(key), value) for key, value in later.items()}
        return {**earlier, **overrides}
    return later


# Runs function calls and yields all resulting events (adk-runtime 7.5, 8.3).


async def run_calls(
    ctx: InvocationContext,
    calls: Sequence[types.FunctionCall],
    tools: Mapping[str, BaseTool],
    confirmations: Mapping[str, ToolConfirmation] | None = None,
) -> AsyncGenerator[Event, None]:
    """Run calls, and yield what their tools emit and then their responses.

    If a call raises, what others returned is yielded before the error is raised. `confirmations`
    are the user's decisions on calls, by call id.
    """
    work = execute(ctx, calls, tools, confirmations)
    if any(tool.emits_events for call in calls if (tool := tools.get(call.name or ""))):
        relay = EventRelay[CallsOutcome](ctx)
        async with aclosing(relay.events(work)) as events:
            async for event in events:
                yield event
        executed = relay.result
    else:
        executed = await work
    for answer in _answers(ctx, calls, executed):
        yield answer
    if executed.error is not None:
        raise executed.error


def _answers(
    ctx: InvocationContext, calls: Sequence[types.FunctionCall], executed: CallsOutcome
) -> list[Event]:
    """Return the event of the responses, the requests to the user and the structured answer."""
    if executed.event is None:
        return []
    structured = structured_answer(ctx, executed.event)
    events = with_requests(ctx, calls, executed.event)
    return events if structured is None else [*events, structured]
