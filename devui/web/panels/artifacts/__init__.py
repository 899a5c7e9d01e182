"""Artifacts: the files that agents save, handed out so that nothing in them can act."""
