"""Apps: which there are, when their code changes, and the engine each runs on."""
