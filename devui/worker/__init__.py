"""devui.worker."""
