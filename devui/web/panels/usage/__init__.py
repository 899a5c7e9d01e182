"""Tokens and cost."""
