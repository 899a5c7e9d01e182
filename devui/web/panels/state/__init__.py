"""State: its values, its changes, who wrote a key, and what isn't committed yet."""
