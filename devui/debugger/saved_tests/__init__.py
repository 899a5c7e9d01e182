"""Recorded runs kept as tests: what may be checked of them, and the file that checks it."""
