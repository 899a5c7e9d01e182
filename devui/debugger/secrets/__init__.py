"""Secrets: what is one, how it may be spelled, and its redaction (R64)."""
