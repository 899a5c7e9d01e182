from google.adk.plugins.base_plugin import BasePlugin


class AuditPlugin(BasePlugin):
    """Records the called tools in the state."""

    def __init__(self) -> None:
        super().__init__(name="audit")

    async def before_tool_callback(self, *, tool, tool_args, tool_context):
        calls = tool_context.state.get("audit", [])
        tool_context.state["audit"] = [*calls, tool.name]
