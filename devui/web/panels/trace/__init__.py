"""Spans: where a run spent its time."""
