"""Replays: recordings of runs, and running them again in a fork."""
