"""devui.wire."""
