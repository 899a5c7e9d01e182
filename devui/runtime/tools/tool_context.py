"""`ToolContext` and `CallbackContext` are the same class as `Context` (adk-runtime 4.3)."""

from devui.runtime.agents.context import Context as ToolContext

CallbackContext = ToolContext

__all__ = ["CallbackContext", "ToolContext"]
