"""Resuming invocations that were cut off, and forking sessions."""
