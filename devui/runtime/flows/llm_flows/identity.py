"""Tells the model which agent it is, so that agents can speak of each other by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devui.runtime.agents.llm_agent_node import gives_one_answer
from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.models.llm_request import LlmRequest


async def _prepare(ctx: InvocationContext, llm_request: LlmRequest) -> None:
    agent = agent_of(ctx)
    if gives_one_answer(ctx):
        return  # nobody speaks of it by name
    text = f'You are an agent; the name that other agents know you by is "{agent.name}".'
    if agent.description:
        text += f' You are described to them as: "{agent.description}".'
    llm_request.append_instructions([text])


request_processor = identity = RequestProcessor("identity", prepare=_prepare)
