"""Runs the calls that the user has decided on (adk-runtime 8.5)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.agents.context import Context
from devui.runtime.agents.invocation_events import events_of
from devui.runtime.agents.open_calls import REQUEST_CONFIRMATION
from devui.runtime.agents.readonly_context import ReadonlyContext
from devui.runtime.events.tool_confirmation import ToolConfirmation
from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of
from devui.runtime.flows.llm_flows.run_calls import run_calls
from devui.runtime.flows.llm_flows.user_requests import has_answer

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.tools.base_tool import BaseTool


async def _run(ctx: InvocationContext, llm_request: LlmRequest) -> AsyncGenerator[Event, None]:
    answer = ctx.latest_answer
    decisions = _decisions(answer)
    if answer is None or not decisions:
        return
    events = events_of(ctx.session.events, invocation_id=ctx.invocation_id, branch=ctx.branch)
    originals = _originals(events, agent_of(ctx).name, decisions)
    if not originals:
        return  # another agent asked
    done = [key for key, call in originals.items() if _has_run(events, key, call)]
    calls = {key: call for key, call in originals.items() if key not in done}
    if not calls:
        if len(answer.get_function_responses()) == len(done) and not _acted_on(events, answer):
            ctx.end_invocation = True  # the same answer once more: there is nothing to add
        return
    tools = {tool.name: tool for tool in await agent_of(ctx).canonical_tools(ReadonlyContext(ctx))}
    for call in calls.values():
        await _check(ctx, events, call, tools)
    decided = {call.id or "": decisions[key] for key, call in calls.items()}
    async with aclosing(run_calls(ctx, list(calls.values()), tools, decided)) as results:
        async for event in results:
            yield event


def _decisions(answer: Event | None) -> dict[str, ToolConfirmation]:
    """What the user decided, by the id of the request."""
    return {
        response.id: _decision(response.response)
        for response in (answer.get_function_responses() if answer else [])
        if response.name == REQUEST_CONFIRMATION and response.id and response.response is not None
    }


def _decision(answer: dict[str, Any]) -> ToolConfirmation:
    try:
        return ToolConfirmation.from_response_dict(answer)
    except (ValueError, TypeError) as error:  # of pydantic and json
        error.add_note(
            f"{answer!r:.200} does not tell whether the tool may be called; answer"
            f' {REQUEST_CONFIRMATION} with {{"confirmed": true}} or {{"confirmed": false}}.'
        )
        raise


def _originals(
    events: Sequence[Event], agent: str, decisions: Mapping[str, ToolConfirmation]
) -> dict[str, types.FunctionCall]:
    """The calls that the agent's requests were about, by the id of the request."""
    return {
        call.id: types.FunctionCall.model_validate((call.args or {})["originalFunctionCall"])
        for event in events
        if event.author == agent
        for call in event.get_function_calls()
        if call.name == REQUEST_CONFIRMATION and call.id and call.id in decisions
    }


def _has_run(events: Sequence[Event], request_id: str, call: types.FunctionCall) -> bool:
    """Whether the call was run after the user's first answer to the request."""
    answered = False
    for event in events:
        ids = {response.id for response in event.get_function_responses()}
        if event.author == "user":
            answered = answered or request_id in ids
        elif answered and call.id in ids:
            return True
    return False


def _acted_on(events: Sequence[Event], answer: Event) -> bool:
    """Whether something has come of this very answer."""
    later = events[next(i for i, event in enumerate(events) if event is answer) + 1 :]
    return any(event.get_function_responses() for event in later)


async def _check(
    ctx: InvocationContext,
    events: Sequence[Event],
    call: types.FunctionCall,
    tools: Mapping[str, BaseTool],
) -> None:
    """Make sure that the call to run is the one that was made, and one that needs a decision.

    Raises:
        ValueError: it is not.
    """
    made = [each for event in events for each in event.get_function_calls() if each.id == call.id]
    if not made or (made[0].name, made[0].args or {}) != (call.name, call.args or {}):
        raise ValueError(
            f"The confirmation is about a call {call.name!r} with id {call.id!r} that was not made"
            " like that; confirm calls as they are in the session."
        )
    tool = tools.get(call.name or "")
    if tool is None:
        raise ValueError(f"The confirmed call names {call.name!r}, which is no tool of the agent.")
    asked = any(call.id in event.actions.requested_tool_confirmations for event in events)
    context = Context(ctx, function_call_id=call.id)
    if not asked and not await tool.check_require_confirmation(call.args or {}, context):
        raise ValueError(f"Tool {call.name!r} asked for no confirmation of the call {call.id!r}.")


request_processor = request_confirmation = RequestProcessor(
    "request_confirmation", run=_run, wanted=has_answer
)
"""Comes before the history is read, so that the model sees the results."""
