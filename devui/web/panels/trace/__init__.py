"""Spans: where the time of a run went."""
