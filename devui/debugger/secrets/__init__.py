"""Secrets: which texts they are, how they may be spelled, and how they are redacted (R64)."""
