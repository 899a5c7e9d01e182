"""`StaleSessionError` (adk-runtime 2.4)."""


class StaleSessionError(ValueError):
    """The session was changed in storage since this copy of it was read."""
