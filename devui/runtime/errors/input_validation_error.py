"""`InputValidationError` (adk-runtime 0)."""


class InputValidationError(ValueError):
    """A value given by the caller is not acceptable."""

    def __init__(self, message: str = "The input is not valid.") -> None:
        self.message = message
        super().__init__(message)
