"""State keys that stay in sight above the panes."""
