"""Artifacts: the files that agents save, served so that nothing in them is active."""
