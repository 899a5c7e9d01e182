"""`AlreadyExistsError` (adk-runtime 0)."""


class AlreadyExistsError(Exception):
    """What was to be created exists already."""

    def __init__(self, message: str = "The resource already exists.") -> None:
        self.message = message
        super().__init__(message)
