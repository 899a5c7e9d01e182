"""The session state during a run: who reads and writes it, and what isn't committed yet."""
