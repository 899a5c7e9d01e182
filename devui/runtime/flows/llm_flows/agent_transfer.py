"""Offers the model the agents it may hand the conversation to (adk-runtime 6.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from devui.runtime.agents.context import Context
from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of
from devui.runtime.tools.transfer_to_agent_tool import TransferToAgentTool

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.llm_agent import LlmAgent
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.tools.base_tool import BaseTool


def transfer_tools(agent: LlmAgent) -> list[BaseTool]:
    """The tool by which the agent hands over; none if there is nobody."""
    targets = agent.may_hand_over_to
    return [TransferToAgentTool([target.name for target in targets])] if targets else []


def _has_targets(ctx: InvocationContext) -> bool:
    return bool(agent_of(ctx).may_hand_over_to)


async def _prepare(ctx: InvocationContext, llm_request: LlmRequest) -> None:
    agent = agent_of(ctx)
    targets = agent.may_hand_over_to
    descriptions = {target.name: await target.described_for_models() for target in targets}
    llm_request.append_instructions([_instruction(agent, targets, descriptions)])
    for tool in transfer_tools(agent):
        await tool.process_llm_request(tool_context=Context(ctx), llm_request=llm_request)


def _instruction(agent: LlmAgent, targets: list[BaseAgent], descriptions: Mapping[str, str]) -> str:
    known = "\n\n".join(
        f"Name: {name}\nDescription: {description}" for name, description in descriptions.items()
    )
    names = ", ".join(f"`{name}`" for name in sorted(descriptions))
    text = (
        f"Other agents can take over this conversation:\n\n{known}\n\n"
        "Compare the descriptions with what the user wants. Answer yourself when that is your own"
        " field. Otherwise call `transfer_to_agent` with the name of the agent whose field it is,"
        f" and say nothing besides. Valid names: {names}."
    )
    parent = agent.parent_agent
    if parent is not None and parent in targets:
        text += f"\n\nWhat is nobody's field goes to `{parent.name}`, the agent above you."
    return text


request_processor = agent_transfer = RequestProcessor(
    "agent_transfer", prepare=_prepare, wanted=_has_targets
)
