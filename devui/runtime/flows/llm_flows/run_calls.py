"""Runs function calls and yields all that comes of them (adk-runtime 7.5, 8.3)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from devui.runtime.flows.llm_flows.event_relay import EventRelay
from devui.runtime.flows.llm_flows.functions import Executed, execute
from devui.runtime.flows.llm_flows.output_schema import structured_answer
from devui.runtime.flows.llm_flows.user_requests import with_requests

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.events.tool_confirmation import ToolConfirmation
    from devui.runtime.tools.base_tool import BaseTool


async def run_calls(
    ctx: InvocationContext,
    calls: Sequence[types.FunctionCall],
    tools: Mapping[str, BaseTool],
    confirmations: Mapping[str, ToolConfirmation] | None = None,
) -> AsyncGenerator[Event, None]:
    """What tools emit while they run, then their responses; what some returned is kept when
    another raises, and then that is raised.

    `confirmations` are the user's decisions on calls, by their ids.
    """
    work = execute(ctx, calls, tools, confirmations)
    if any(tool.emits_events for call in calls if (tool := tools.get(call.name or ""))):
        relay = EventRelay[Executed](ctx)
        async with aclosing(relay.events(work)) as events:
            async for event in events:
                yield event
        executed = relay.result
    else:
        executed = await work
    for answered in _answers(ctx, calls, executed):
        yield answered
    if executed.error is not None:
        raise executed.error


def _answers(
    ctx: InvocationContext, calls: Sequence[types.FunctionCall], executed: Executed
) -> list[Event]:
    """The event of the tools' responses, with what they ask the user and what they conclude."""
    if executed.event is None:
        return []
    structured = structured_answer(ctx, executed.event)
    events = with_requests(ctx, calls, executed.event)
    return events if structured is None else [*events, structured]
