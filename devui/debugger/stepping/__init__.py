"""Holding a run at its gates and letting it go on (docs/decisions/0006)."""
