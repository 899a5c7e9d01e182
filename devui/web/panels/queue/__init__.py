"""The queue: messages that wait for the end of a session's run."""
