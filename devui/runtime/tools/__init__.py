"""The tools that an agent's model can call. Names are loaded on first use."""

from typing import TYPE_CHECKING

from devui.runtime.exports import lazy

if TYPE_CHECKING:
    from devui.runtime.auth.auth_tool import AuthToolArguments
    from devui.runtime.tools.agent_tool import AgentTool
    from devui.runtime.tools.base_tool import BaseTool, has_effects, idempotent, read_only
    from devui.runtime.tools.base_toolset import BaseToolset
    from devui.runtime.tools.control_tools import (
        TransferToAgentTool,
        exit_loop,
        request_input,
        transfer_to_agent,
    )
    from devui.runtime.tools.control_tools import get_user_choice_tool as get_user_choice
    from devui.runtime.tools.example_tool import ExampleTool
    from devui.runtime.tools.function_tool import FunctionTool, LongRunningFunctionTool
    from devui.runtime.tools.google_tools import (
        enterprise_web_search_tool as enterprise_web_search,
    )
    from devui.runtime.tools.google_tools import google_maps_grounding, google_search, url_context
    from devui.runtime.tools.load_artifacts_tool import load_artifacts_tool as load_artifacts
    from devui.runtime.tools.memory_tools import load_memory_tool as load_memory
    from devui.runtime.tools.memory_tools import preload_memory_tool as preload_memory
    from devui.runtime.tools.tool_context import ToolContext

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
        "LongRunningFunctionTool": "function_tool",
        "MCPToolset": "mcp_tool.mcp_toolset",
        "McpToolset": "mcp_tool.mcp_toolset",
        "ToolContext": "tool_context",
        "TransferToAgentTool": "control_tools",
        "enterprise_web_search": "google_tools:enterprise_web_search_tool",
        "exit_loop": "control_tools",
        "get_user_choice": "control_tools:get_user_choice_tool",
        "google_maps_grounding": "google_tools",
        "google_search": "google_tools",
        "has_effects": "base_tool",
        "idempotent": "base_tool",
        "read_only": "base_tool",
        "load_artifacts": "load_artifacts_tool:load_artifacts_tool",
        "load_memory": "memory_tools:load_memory_tool",
        "preload_memory": "memory_tools:preload_memory_tool",
        "request_input": "control_tools",
        "transfer_to_agent": "control_tools",
        "url_context": "google_tools",
    },
)
