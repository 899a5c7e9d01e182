"""Breakpoints: their conditions, what they hit, now and in the past."""
