"""Search over all sessions, in the language of the timeline's filter."""
