"""Breakpoints: their tab, and the gutter of the timeline."""
