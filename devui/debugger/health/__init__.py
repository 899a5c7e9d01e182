"""Whether the journal takes changes, and whether the clock was moved."""
