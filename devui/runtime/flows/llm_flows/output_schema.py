"""Asks the model for a structured answer (adk-runtime 6.4, 7.6)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from google.genai import types

from devui.runtime.agents.invocation_events import on_branch
from devui.runtime.events.event import Event
from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of
from devui.runtime.tools.set_model_response_tool import NAME, SetModelResponseTool

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.models.llm_request import LlmRequest

_INSTRUCTION = (
    f"When you have your final answer, call `{NAME}` with it instead of writing it as text."
)


def _is_wanted(ctx: InvocationContext) -> bool:
    agent = agent_of(ctx)
    return agent.output_schema is not None and agent.mode != "task"


async def _prepare(ctx: InvocationContext, llm_request: LlmRequest) -> None:
    agent = agent_of(ctx)
    schema = agent.output_schema
    if (
        not (agent.tools or agent.sub_agents_as_tools)
        or agent.canonical_model.capabilities.output_schema_and_tools
    ):
        llm_request.set_output_schema(schema)
        return
    # Most models take either a schema or tools, so here the answer itself becomes a tool.
    llm_request.append_tools([SetModelResponseTool(schema)])
    llm_request.append_instructions([_INSTRUCTION])


def structured_answer(ctx: InvocationContext, responses: Event) -> Event | None:
    """The answer that a model gave through the tool, as a model's text."""
    answer = responses.actions.set_model_response
    if answer is None:
        return None
    text = json.dumps(answer, ensure_ascii=False)
    return Event(
        invocation_id=ctx.invocation_id,
        author=responses.author,
        branch=ctx.branch,
        content=types.Content(role="model", parts=[types.Part(text=text)]),
    )


def lost_answer(ctx: InvocationContext) -> Event | None:
    """The answer that a broken-off run got through the tool, and did not pass on (resume seed)."""
    if ctx.begun_at is None:
        return None
    name = agent_of(ctx).name
    own = (e for e in reversed(ctx.history.events) if e.author == name and e.content)
    told = next((e for e in own if ctx.branch in {None, e.branch}), None)
    if told is None or told.actions.set_model_response is None:
        return None  # quick to find out, and mostly so
    events = on_branch(ctx.history.events, ctx.branch, ctx.session.events)
    last = next((event for event in reversed(events) if event.content), None)
    return structured_answer(ctx, told) if last is told else None


output_schema = RequestProcessor("output_schema", prepare=_prepare, wanted=_is_wanted)
