"""Public helpers, at the module paths that agent code imports them from."""
