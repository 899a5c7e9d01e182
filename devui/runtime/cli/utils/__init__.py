"""Helpers that programs import from google-adk's command line."""
