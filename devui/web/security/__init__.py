"""Who may ask, and for what: host names, tokens, origins, sizes (R01 to R08, R26)."""
