"""devui.runtime."""
