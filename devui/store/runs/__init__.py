"""Runs and what belongs to them: spans and tool calls, edits, replays, queued messages, trials."""
