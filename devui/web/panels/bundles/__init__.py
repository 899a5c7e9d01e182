"""Sessions as files: export, import, and the self-contained HTML page."""
