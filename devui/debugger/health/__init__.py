"""Health checks: whether the journal accepts writes, and whether the clock was moved."""
