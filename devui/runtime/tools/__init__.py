"""Tools: what an agent's model may call. Names are loaded on first use."""

from typing import TYPE_CHECKING

from devui.runtime.exports import lazy

if TYPE_CHECKING:
    from devui.runtime.auth.auth_tool import AuthToolArguments
    from devui.runtime.tools.agent_tool import AgentTool
    from devui.runtime.tools.base_tool import BaseTool
    from devui.runtime.tools.base_toolset import BaseToolset
    from devui.runtime.tools.effect import has_effects, idempotent, read_only
    from devui.runtime.tools.enterprise_search_tool import (
        enterprise_web_search_tool as enterprise_web_search,
    )
    from devui.runtime.tools.example_tool import ExampleTool
    from devui.runtime.tools.exit_loop_tool import exit_loop
    from devui.runtime.tools.function_tool import FunctionTool
    from devui.runtime.tools.get_user_choice_tool import get_user_choice_tool as get_user_choice
    from devui.runtime.tools.google_maps_grounding_tool import google_maps_grounding
    from devui.runtime.tools.google_search_tool import google_search
    from devui.runtime.tools.load_artifacts_tool import load_artifacts_tool as load_artifacts
    from devui.runtime.tools.load_memory_tool import load_memory_tool as load_memory
    from devui.runtime.tools.long_running_tool import LongRunningFunctionTool
    from devui.runtime.tools.preload_memory_tool import preload_memory_tool as preload_memory
    from devui.runtime.tools.request_input_tool import request_input
    from devui.runtime.tools.tool_context import ToolContext
    from devui.runtime.tools.transfer_to_agent_tool import TransferToAgentTool, transfer_to_agent
    from devui.runtime.tools.url_context_tool import url_context

__all__ = [
    "AgentTool",
    "AuthToolArguments",
    "BaseTool",
    "BaseToolset",
    "ExampleTool",
    "FunctionTool",
    "LongRunningFunctionTool",
    "ToolContext",
    "TransferToAgentTool",
    "enterprise_web_search",
    "exit_loop",
    "get_user_choice",
    "google_maps_grounding",
    "google_search",
    "has_effects",
    "idempotent",
    "load_artifacts",
    "load_memory",
    "preload_memory",
    "read_only",
    "request_input",
    "transfer_to_agent",
    "url_context",
]

__getattr__ = lazy(
    __name__,
    {
        "AgentTool": "agent_tool",
        "AuthToolArguments": ".auth.auth_tool",
        "BaseTool": "base_tool",
        "BaseToolset": "base_toolset",
        "ExampleTool": "example_tool",
        "FunctionTool": "function_tool",
        "LongRunningFunctionTool": "long_running_tool",
        "MCPToolset": "mcp_tool.mcp_toolset",
        "McpToolset": "mcp_tool.mcp_toolset",
        "ToolContext": "tool_context",
        "TransferToAgentTool": "transfer_to_agent_tool",
        "enterprise_web_search": "enterprise_search_tool:enterprise_web_search_tool",
        "exit_loop": "exit_loop_tool",
        "get_user_choice": "get_user_choice_tool:get_user_choice_tool",
        "google_maps_grounding": "google_maps_grounding_tool",
        "google_search": "google_search_tool",
        "has_effects": "effect",
        "idempotent": "effect",
        "read_only": "effect",
        "load_artifacts": "load_artifacts_tool:load_artifacts_tool",
        "load_memory": "load_memory_tool:load_memory_tool",
        "preload_memory": "preload_memory_tool:preload_memory_tool",
        "request_input": "request_input_tool",
        "transfer_to_agent": "transfer_to_agent_tool",
        "url_context": "url_context_tool",
    },
)
