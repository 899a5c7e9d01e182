"""`ToolConfirmation`, at its public place (adk-runtime 8.5)."""

from devui.runtime.events.tool_confirmation import ToolConfirmation

__all__ = ["ToolConfirmation"]
