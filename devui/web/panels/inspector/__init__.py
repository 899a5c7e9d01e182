"""The inspector: its tabs, and one event in full."""
