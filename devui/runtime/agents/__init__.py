"""Agents: what runs, and the contexts it runs in. Names are loaded on first use."""

from typing import TYPE_CHECKING

from devui.runtime.exports import lazy

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.context import Context
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.llm_agent import Agent, LlmAgent
    from devui.runtime.agents.loop_agent import LoopAgent
    from devui.runtime.agents.parallel_agent import ParallelAgent
    from devui.runtime.agents.run_config import RunConfig
    from devui.runtime.agents.sequential_agent import SequentialAgent

__all__ = [
    "Agent",
    "BaseAgent",
    "Context",
    "InvocationContext",
    "LlmAgent",
    "LoopAgent",
    "ParallelAgent",
    "RunConfig",
    "SequentialAgent",
]

__getattr__ = lazy(
    __name__,
    {
        "Agent": "llm_agent",
        "BaseAgent": "base_agent",
        "Context": "context",
        "InvocationContext": "invocation_context",
        "LlmAgent": "llm_agent",
        "LoopAgent": "loop_agent",
        "McpInstructionProvider": "mcp_instruction_provider",
        "ParallelAgent": "parallel_agent",
        "RunConfig": "run_config",
        "SequentialAgent": "sequential_agent",
    },
)
