"""Replays: executing a recorded run again (decisions/0012)."""
