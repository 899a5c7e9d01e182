"""Search across all sessions, in the language of the timeline's filter."""
