"""Tools of MCP servers (adk-runtime 8.9). Needs `pip install devui[mcp]`."""

from devui.runtime.tools.mcp_tool.mcp_session_manager import (
    MCPSessionManager,
    SseConnectionParams,
    StdioConnectionParams,
    StreamableHTTPConnectionParams,
)
from devui.runtime.tools.mcp_tool.mcp_tool import McpTool
from devui.runtime.tools.mcp_tool.mcp_toolset import MCPToolset, McpToolset

__all__ = [
    "MCPSessionManager",
    "MCPToolset",
    "McpTool",
    "McpToolset",
    "SseConnectionParams",
    "StdioConnectionParams",
    "StreamableHTTPConnectionParams",
]
