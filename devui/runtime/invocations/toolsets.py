"""Closes the toolsets in a tree of agents together with the Runner (adk-runtime 3.6)."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Protocol, runtime_checkable

from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.closing import finish, take_all
from devui.runtime.mistakes import note_on_await
from devui.runtime.tools.base_toolset import toolsets_of
from devui.runtime.tools.node_tool import NodeTool
from devui.runtime.workflow.base_node import BaseNode
from devui.runtime.workflow.parallel_worker import ParallelWorker
from devui.runtime.workflow.workflow import Workflow

logger = logging.getLogger(__name__)

_CLOSE_TIMEOUT = 10.0
"""How long each toolset may take to close, in seconds."""


@runtime_checkable
class _Closes(Protocol):
    async def close(self) -> None: ...


async def close_toolsets(root: BaseNode) -> None:
    """Close every toolset in the tree once; one that fails is logged and doesn't block others."""
    toolsets = {id(toolset): toolset for toolset in _toolsets(root)}.values()
    await take_all([partial(_close, toolset) for toolset in toolsets])


async def _close(toolset: _Closes) -> None:
    """Close it completely, even if closing the Runner is cancelled: it may hold a process."""
    await finish(_closed_in_time(toolset))


async def _closed_in_time(toolset: _Closes) -> None:
    try:
        async with asyncio.timeout(_CLOSE_TIMEOUT):
            await toolset.close()
    except Exception as error:
        note_on_await(error, toolset.close)
        logger.exception("%s could not be closed.", type(toolset).__name__)


def _toolsets(node: BaseNode) -> Iterator[_Closes]:
    """Yield toolsets and instructions that need closing: an instruction may come from a server."""
    if isinstance(node, LlmAgent):
        yield from toolsets_of(node.tools)
        if isinstance(node.instruction, _Closes):
            yield node.instruction
        for tool in node.tools:
            inner = tool.node if isinstance(tool, NodeTool) else tool
            if isinstance(inner, BaseNode):
                yield from _toolsets(inner)
    for below in nodes_below(node):
        yield from _toolsets(below)


def nodes_below(node: BaseNode) -> Sequence[BaseNode]:
    """Return the nodes that a node is made of: sub-agents, nodes of a graph, parallel workers."""
    if isinstance(node, BaseAgent):
        return node.sub_agents
    if isinstance(node, Workflow):
        return node.nodes
    return [node.worker] if isinstance(node, ParallelWorker) else []
