"""The state of a session in a run: who reads and writes it, and what is not committed yet."""
