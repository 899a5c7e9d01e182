"""Apps: how they are found, when their code changes, and the engine each one runs on."""
