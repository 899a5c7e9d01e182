"""Traces of agents that ran elsewhere, as sessions to be read (docs/guide/opentelemetry.md)."""
