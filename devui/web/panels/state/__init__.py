"""State: its values, what changed, who wrote a key, and what is not committed yet."""
