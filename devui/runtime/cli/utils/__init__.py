"""Helpers that programs around agents import from google-adk's command line."""
