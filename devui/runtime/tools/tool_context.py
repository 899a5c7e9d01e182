"""`ToolContext` is the same class as `Context` (adk-runtime 4.3)."""

from devui.runtime.agents.context import Context as ToolContext

__all__ = ["ToolContext"]
