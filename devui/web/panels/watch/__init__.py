"""Watched state keys, which stay visible above the panes."""
