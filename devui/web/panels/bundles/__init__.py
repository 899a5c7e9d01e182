"""Sessions as files: export, import, and the HTML page that stands alone."""
