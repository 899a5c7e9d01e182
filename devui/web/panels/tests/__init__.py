"""The page that makes a test from a session (docs/guide/testing.md)."""
