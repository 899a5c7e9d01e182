"""The public import path of `ToolConfirmation` (adk-runtime 8.5)."""

from devui.runtime.events.event_actions import ToolConfirmation

__all__ = ["ToolConfirmation"]
