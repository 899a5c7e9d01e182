"""Imports traces of agents that ran elsewhere as sessions (docs/guide/opentelemetry.md)."""
