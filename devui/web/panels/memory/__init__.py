"""The memory of an app: what it remembers of its users."""
