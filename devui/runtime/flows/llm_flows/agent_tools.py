"""Declares the agent's own tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from devui.runtime.agents.context import Context
from devui.runtime.agents.readonly_context import ReadonlyContext
from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of
from devui.runtime.mistakes import given, note_on_await, note_on_names
from devui.runtime.models.own_contents import own_contents
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.base_toolset import BaseToolset, toolsets_of

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.models.llm_request import LlmRequest

_declares = BaseTool.process_llm_request
"""What nearly all tools do with a request, several at once; others may change its contents."""


async def _prepare(ctx: InvocationContext, llm_request: LlmRequest) -> None:
    agent = agent_of(ctx)
    for toolset in toolsets_of(agent.tools):
        with own_contents(llm_request, by=type(toolset).__name__):
            await _prepared(toolset, ctx, llm_request)
    alike: list[BaseTool] = []
    for tool in await agent.canonical_tools(ReadonlyContext(ctx)):
        if _prepares(tool, agent.name) is _declares:
            alike.append(tool)
            continue
        llm_request.append_tools(alike)
        alike = []
        with own_contents(llm_request, by=f"tool {tool.name!r}"):
            await _prepared(tool, ctx, llm_request)
    llm_request.append_tools(alike)


async def _prepared(
    tool: BaseTool | BaseToolset, ctx: InvocationContext, llm_request: LlmRequest
) -> None:
    try:
        await tool.process_llm_request(tool_context=Context(ctx), llm_request=llm_request)
    except TypeError as error:
        note_on_await(error, tool.process_llm_request)
        note_on_names(error, tool.process_llm_request, "tool_context", "llm_request")
        raise


def _prepares(tool: BaseTool, agent: str) -> Callable[..., Awaitable[None]]:
    """What the tool's class does with requests; TypeError if it is no tool."""
    try:
        return type(tool).process_llm_request
    except AttributeError:
        raise TypeError(
            f"A toolset of agent {agent!r} gives {given(tool)}; let its get_tools return"
            " BaseTools, such as FunctionTool(...)."
        ) from None


agent_tools = RequestProcessor("agent_tools", prepare=_prepare)
