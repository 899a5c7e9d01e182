"""devui.debugger."""
