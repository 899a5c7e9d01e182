"""The journal on SQLite: sessions, events, state, runs, artifacts, durable once acknowledged."""
