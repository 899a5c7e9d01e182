"""Notes and stars on events and sessions."""
