"""Sessions as files: how they are written, redacted and read back (docs/guide/bundles.md)."""
