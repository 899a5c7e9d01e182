"""devui.store."""
