"""The journal on SQLite: sessions, events, state, runs and artifacts, durable once acknowledged."""
