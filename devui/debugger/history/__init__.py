"""State over time: who wrote a value, how state differs between two moments, and rewinds."""
