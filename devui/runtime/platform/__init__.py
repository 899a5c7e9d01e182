"""Time and ids, from providers that tests and replays can replace."""
