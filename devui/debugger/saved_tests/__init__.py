"""Recorded runs saved as tests: the checks to choose from, and the files that run them."""
