"""`NotFoundError` (adk-runtime 0)."""


class NotFoundError(Exception):
    """What was asked for does not exist."""

    def __init__(self, message: str = "The item was not found.") -> None:
        self.message = message
        super().__init__(message)
