"""Runs the calls that the user has decided on (adk-runtime 8.5)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

from devui.runtime.agents.context import Context
from devui.runtime.agents.invocation_events import own_events
from devui.runtime.agents.open_calls import settled_calls, subjects, unheeded_answers
from devui.runtime.agents.readonly_context import ReadonlyContext
from devui.runtime.flows.llm_flows.agent_transfer import transfer_tools
from devui.runtime.flows.llm_flows.decisions import decisions, originals
from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of
from devui.runtime.flows.llm_flows.run_calls import run_calls
from devui.runtime.flows.llm_flows.user_requests import may_have_answers

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.events.tool_confirmation import ToolConfirmation
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.tools.base_tool import BaseTool


async def _run(ctx: InvocationContext, llm_request: LlmRequest) -> AsyncGenerator[Event, None]:
    reader = "confirmation", agent_of(ctx).name, ctx.branch, ctx.node_path
    if ctx.history.is_heeded(reader):
        return
    answer = ctx.latest_answer
    events = own_events(ctx)
    decided = _unheeded(events, agent_of(ctx).name) | decisions(answer)
    asked = originals(events, agent_of(ctx).name, decided) if decided else {}
    settled = settled_calls(events) | _asked_since(events, answer) if asked else set()
    done = [key for key, call in asked.items() if call.id in settled]
    calls = {key: call for key, call in asked.items() if key not in done}
    if not calls:
        ctx.history.heed(reader)
        if asked and answer and _answers_only(answer, done) and not _acted_on(events, answer):
            ctx.end_invocation = True  # the same answer once more: there is nothing to add
        return
    agent = agent_of(ctx)
    own = await agent.canonical_tools(ReadonlyContext(ctx))
    tools = {tool.name: tool for tool in [*own, *transfer_tools(agent)]}
    for call in calls.values():
        await _check(ctx, events, call, tools)
    confirmations: dict[str, ToolConfirmation] = {}
    for key, call in calls.items():
        if confirmations.setdefault(call.id or "", decided[key]).confirmed:
            confirmations[call.id or ""] = decided[key]  # of several requests a refusal counts
    once = list({call.id: call for call in calls.values()}.values())
    async with aclosing(run_calls(ctx, once, tools, confirmations)) as results:
        async for event in results:
            yield event


def _unheeded(events: Sequence[Event], agent: str) -> dict[str, ToolConfirmation]:
    """What the user decided before, and nothing has come of it: the run had broken off."""
    unheeded = unheeded_answers(events, agent)
    decided: dict[str, ToolConfirmation] = {}
    for event in events if unheeded else ():
        if event.author == "user":
            with suppress(ValueError, TypeError):  # which has been told when it came
                decided |= decisions(event)
    return {each: decided[each] for each in decided.keys() & unheeded}


def _asked_since(events: Sequence[Event], answer: Event | None) -> set[str]:
    """The calls that have asked once more when they were run: this answer is used up for them."""
    begun = next((i for i, event in enumerate(events) if event is answer), len(events))
    return {each for event in events[begun:] for each in subjects(event.get_function_calls())}


def _answers_only(answer: Event, questions: Sequence[str]) -> bool:
    return len(answer.get_function_responses()) == len(questions)


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
    "request_confirmation", run=_run, wanted=may_have_answers
)
"""Comes before the history is read, so that the model sees the results."""
