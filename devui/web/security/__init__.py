"""Access control for requests: host names, tokens, origins, sizes (R01 to R08, R26)."""
