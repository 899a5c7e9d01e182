"""Holding runs at their gates and continuing them (docs/decisions/0006)."""
