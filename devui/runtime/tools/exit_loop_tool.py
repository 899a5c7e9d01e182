"""The tool by which a model ends the loop it runs in (adk-runtime 8.8)."""

from devui.runtime.tools.tool_context import ToolContext


def exit_loop(tool_context: ToolContext) -> None:
    """End the loop. Call this only when your instructions say so."""
    tool_context.actions.escalate = True
    tool_context.actions.skip_summarization = True
