"""State over time: who wrote a value, what changed between two moments, and rewinds."""
