"""The toolsets of a tree of agents, to be closed with the Runner (adk-runtime 3.6)."""

import asyncio
import logging
from collections.abc import Iterator

from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.tools.base_toolset import BaseToolset

logger = logging.getLogger(__name__)

_CLOSE_TIMEOUT = 10.0
"""Seconds that each toolset has."""


async def close_toolsets(root: BaseAgent) -> None:
    """Close every toolset in the tree once; one that fails is logged and holds up no other."""
    for toolset in {id(toolset): toolset for toolset in _toolsets(root)}.values():
        try:
            async with asyncio.timeout(_CLOSE_TIMEOUT):
                await toolset.close()
        except Exception:
            logger.exception("%s could not be closed.", type(toolset).__name__)


def _toolsets(agent: BaseAgent) -> Iterator[BaseToolset]:
    if isinstance(agent, LlmAgent):
        yield from (tool for tool in agent.tools if isinstance(tool, BaseToolset))
    for sub_agent in agent.sub_agents:
        yield from _toolsets(sub_agent)
