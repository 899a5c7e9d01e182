"""Sessions as files: written, looked at for secrets, read back (docs/guide/bundles.md)."""
