"""What runs did: the runs, their spans and tool calls, edits, replays, queued messages, trials."""
