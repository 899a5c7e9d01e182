"""Tools of MCP servers (adk-runtime 8.9). Needs `pip install devui[mcp]`."""

from devui.runtime.tools.mcp_tool.conversion_utils import (
    adk_to_mcp_tool_type,
    gemini_to_json_schema,
)
from devui.runtime.tools.mcp_tool.mcp_session_manager import (
    MCPSessionManager,
    SseConnectionParams,
    StdioConnectionParams,
    StreamableHTTPConnectionParams,
)
from devui.runtime.tools.mcp_tool.mcp_tool import MCPTool, McpTool
from devui.runtime.tools.mcp_tool.mcp_toolset import MCPToolset, McpToolset

__all__ = [
    "MCPSessionManager",
    "MCPTool",
    "MCPToolset",
    "McpTool",
    "McpToolset",
    "SseConnectionParams",
    "StdioConnectionParams",
    "StreamableHTTPConnectionParams",
    "adk_to_mcp_tool_type",
    "gemini_to_json_schema",
]
