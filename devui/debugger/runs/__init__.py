"""Runs: from the request to the end, with commits, limits, logs and uncommitted state."""
