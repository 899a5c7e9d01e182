"""Tools: what an agent's model may call."""

from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.base_toolset import BaseToolset
from devui.runtime.tools.exit_loop_tool import exit_loop
from devui.runtime.tools.function_tool import FunctionTool
from devui.runtime.tools.long_running_tool import LongRunningFunctionTool
from devui.runtime.tools.tool_context import ToolContext
from devui.runtime.tools.transfer_to_agent_tool import TransferToAgentTool, transfer_to_agent

__all__ = [
    "BaseTool",
    "BaseToolset",
    "FunctionTool",
    "LongRunningFunctionTool",
    "ToolContext",
    "TransferToAgentTool",
    "exit_loop",
    "transfer_to_agent",
]
