"""Replays: a recorded run once more (decisions/0012)."""
