"""devui.web."""
