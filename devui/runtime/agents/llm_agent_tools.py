"""The tools of an agent's model, made of what stands in `tools` (adk-runtime 6.1)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from devui.runtime.mistakes import message_of
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.base_toolset import ToolsetError
from devui.runtime.tools.function_tool import FunctionTool
from devui.runtime.tools.node_tool import NodeTool
from devui.runtime.workflow.base_node import BaseNode

if TYPE_CHECKING:
    from devui.runtime.agents.llm_agent import LlmAgent
    from devui.runtime.agents.readonly_context import ReadonlyContext
    from devui.runtime.tools.base_toolset import BaseToolset

logger = logging.getLogger(__name__)


def made_of(entry: Any, agent: LlmAgent) -> BaseTool:
    """A tool as it is; a function or node wrapped, once, as its declaration takes a while."""
    known = agent._made_tools.get(id(entry))
    if known is not None and known[0] is entry:
        return known[1]
    if isinstance(entry, BaseTool):
        return entry.beside_others(agent)
    made = NodeTool(entry) if isinstance(entry, BaseNode) else FunctionTool(entry)
    agent._made_tools[id(entry)] = (entry, made)
    return made


async def listed_by(
    toolset: BaseToolset, agent: LlmAgent, ctx: ReadonlyContext | None
) -> list[BaseTool]:
    """The tools of a toolset; none, and a line in the log, if it cannot list them.

    Raises:
        ToolsetError: it lists something else.
    """
    try:
        return await toolset.get_tools_with_prefix(ctx)
    except ToolsetError:
        raise
    except Exception as error:
        logger.exception(
            "Agent %r runs without the tools of %s, which could not be listed: %s",
            agent.name,
            type(toolset).__name__,
            message_of(error),  # noqa: TRY401  a traceback of groups is long, and ends with it
        )
        return []
