"""Breakpoints: their kinds and conditions, and their hits, now and in the past."""
