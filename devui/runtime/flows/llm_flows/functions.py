"""Executes the function calls of one model answer (adk-runtime 8.3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from google.genai import types

from devui.runtime.agents.open_calls import (
    REQUEST_CONFIRMATION,
    REQUEST_CREDENTIAL,
    REQUEST_INPUT,
)
from devui.runtime.copying import exchanged
from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions
from devui.runtime.events.node_info import NodeInfo
from devui.runtime.flows.llm_flows.tool_batch import Finished, run_batch
from devui.runtime.flows.llm_flows.tool_calls import ToolCall
from devui.runtime.flows.llm_flows.tool_pairs import CLIENT_ID
from devui.runtime.platform.uuid import new_uuid

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.tool_confirmation import ToolConfirmation
    from devui.runtime.tools.base_tool import BaseTool

REQUEST_CONFIRMATION_FUNCTION_CALL_NAME = REQUEST_CONFIRMATION
REQUEST_EUC_FUNCTION_CALL_NAME = REQUEST_CREDENTIAL
REQUEST_INPUT_FUNCTION_CALL_NAME = REQUEST_INPUT
"""How a client knows what a call asks of the user; ADK's names (LlmAgent seed; adk-runtime 8)."""

AF_FUNCTION_CALL_ID_PREFIX = CLIENT_ID
"""How ids begin that were made up here, since the model gave its call none."""

_NO_SIGNALS: dict[str, Any] = {
    "state_delta": {},
    "artifact_delta": {},
    "skip_summarization": None,
    "render_ui_widgets": None,
}
"""What a mere result may change."""


_ANSWER = types.Content(role="user")


class Executed(NamedTuple):
    """What came of the calls of one answer."""

    event: Event | None
    """One response for each call that has one, in the order of the calls."""
    error: BaseException | None = None
    """What the first of the failing calls raised; `event` has what can be kept of the others."""


def generate_client_function_call_id() -> str:
    """An id for a call that has none."""
    return f"{CLIENT_ID}{new_uuid()}"


def give_ids(calls: Sequence[types.FunctionCall]) -> None:
    """Give each call without an id one by which its response will name it."""
    for call in calls:
        if not call.id:
            call.id = generate_client_function_call_id()


def get_long_running_function_calls(
    function_calls: Sequence[types.FunctionCall], tools_dict: Mapping[str, BaseTool]
) -> set[str]:
    """The ids of the calls whose tools may answer later."""
    return {
        call.id
        for call in function_calls
        if call.id and (tool := tools_dict.get(call.name or "")) and tool.is_long_running
    }


def find_event_by_function_call_id(events: Sequence[Event], function_call_id: str) -> Event | None:
    """The latest event that made the call."""
    for event in reversed(events):
        if any(call.id == function_call_id for call in event.get_function_calls()):
            return event
    return None


def find_matching_function_call(
    events: Sequence[Event], function_response_event: Event | None = None
) -> Event | None:
    """The event that made the call which an event answers: this one, or else the last.

    Of several answers the first counts.
    """
    answered = function_response_event or (events[-1] if events else None)
    responses = answered.get_function_responses() if answered else []
    if not events or answered is None or not responses or not responses[0].id:
        return None
    earlier = events[:-1] if events[-1].id == answered.id else events
    return find_event_by_function_call_id(earlier, responses[0].id)


async def handle_function_calls_async(
    invocation_context: InvocationContext,
    function_call_event: Event,
    tools_dict: Mapping[str, BaseTool],
    filters: Collection[str] | None = None,
    tool_confirmation_dict: Mapping[str, ToolConfirmation] | None = None,
) -> Event | None:
    """Run the calls of an event, or those whose ids are in `filters`, and gather the responses.

    Raises what the first of the failing calls raised.
    """
    calls = [
        call
        for call in function_call_event.get_function_calls()
        if not filters or call.id in filters
    ]
    done = await execute(invocation_context, calls, tools_dict, tool_confirmation_dict)
    if done.error is not None:
        raise done.error
    return done.event


async def execute(
    ctx: InvocationContext,
    calls: Sequence[types.FunctionCall],
    tools: Mapping[str, BaseTool],
    confirmations: Mapping[str, ToolConfirmation] | None = None,
) -> Executed:
    """Run all calls at the same time and gather their responses in one event.

    `confirmations` are the user's decisions on calls, by their ids.
    """
    if not calls:
        return Executed(None)
    decisions = confirmations or {}
    running = [ToolCall(ctx, call, tools, decisions.get(call.id or "")) for call in calls]
    if len(running) == 1:
        return Executed(_event(ctx, [(await running[0].run(), running[0])]))
    finished, error = await run_batch(running, ctx.abort_switch.passages)
    if error is not None:
        finished = [(part, call) for part, call in finished if part is None or _is_plain(call)]
    return Executed(_event(ctx, finished), error)


def _is_plain(call: ToolCall) -> bool:
    """Whether the call gave a mere result; what sends control elsewhere is to be done again.

    A turn that failed carries out no transfer and asks for no confirmation (adk-runtime 8.3).
    """
    return call.actions.model_copy(update=_NO_SIGNALS) == EventActions()


def _event(ctx: InvocationContext, finished: Finished) -> Event | None:
    """The event of the responses; None if there is nothing to say and nothing changed."""
    parts = [each for part, call in finished for each in (part, call.spoken) if each is not None]
    actions = [
        call.actions if part is not None else _changes(call.actions) for part, call in finished
    ]
    if not parts and not any(each.state_delta or each.artifact_delta for each in actions):
        return None
    return Event.made(
        invocation_id=ctx.invocation_id,
        author=ctx.agent.name if ctx.agent else "",
        branch=ctx.branch,
        node_info=NodeInfo(path=ctx.node_path or ""),
        content=exchanged(_ANSWER, "parts", parts) if parts else None,
        actions=actions[0] if len(actions) == 1 else _merged(actions, ctx.session.state),
    )


def _changes(actions: EventActions) -> EventActions:
    """What a long-running tool changed before it let the model wait; its signals come later."""
    return EventActions(state_delta=actions.state_delta, artifact_delta=actions.artifact_delta)


def _merged(all_actions: Sequence[EventActions], live: Mapping[str, Any]) -> EventActions:
    """All changes in one: dicts are joined, widgets listed, and of the rest the last counts.

    `live` is the session's state, which has had all the writes.
    """
    merged: dict[str, Any] = {}
    for actions in all_actions:
        for name, value in actions:
            if value is not None:
                merged[name] = _joined(merged.get(name), value)
    merged["state_delta"] = _merged_state([each.state_delta for each in all_actions], live)
    widgets = [widget for each in all_actions for widget in each.render_ui_widgets or []]
    return EventActions.model_construct(**{**merged, "render_ui_widgets": widgets or None})


def _merged_state(deltas: Sequence[dict[str, Any]], live: Mapping[str, Any]) -> dict[str, Any]:
    """What several calls wrote; of one key, what was written last.

    Calls end in any order, and each may have built on what another wrote: what stands in the live
    state is the latest, whichever call it is of.
    """
    writes = [write for delta in deltas for write in delta.items()]
    if len(writes) > len({key for key, _ in writes}):
        now = dict(live)  # a look at all of it is no read of a key (docs/guide/debugging.md)
        writes.sort(key=lambda write: write[1] is now.get(write[0]))
    merged: dict[str, Any] = {}
    for key, value in writes:
        merged[key] = _joined(merged.get(key), value)
    return merged


def _joined(earlier: Any, later: Any) -> Any:
    if isinstance(earlier, dict) and isinstance(later, dict):
        joined = {key: _joined(earlier.get(key), value) for key, value in later.items()}
        return {**earlier, **joined}
    return later
