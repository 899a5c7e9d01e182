"""The page that makes a test of a session (docs/guide/testing.md)."""
