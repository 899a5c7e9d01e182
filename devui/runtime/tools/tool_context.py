"""`ToolContext` is the same class as `Context`, and so is `CallbackContext` (adk-runtime 4.3)."""

from devui.runtime.agents.context import Context as ToolContext

CallbackContext = ToolContext

__all__ = ["CallbackContext", "ToolContext"]
