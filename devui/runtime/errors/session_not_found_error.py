"""`SessionNotFoundError` (adk-runtime 0)."""


class SessionNotFoundError(ValueError):
    """There is no session with that app, user and id."""

    def __init__(self, message: str = "The session was not found.") -> None:
        self.message = message
        super().__init__(message)
