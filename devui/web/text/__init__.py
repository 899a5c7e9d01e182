"""Formats values and texts as inert HTML and as readable words."""
