"""`InvocationNotFoundError` (adk-runtime 0)."""

from devui.runtime.errors.not_found_error import NotFoundError


class InvocationNotFoundError(NotFoundError, ValueError):
    """The session has no invocation with that id."""

    def __init__(self, message: str = "The invocation was not found.") -> None:
        self.message = message
        super().__init__(message)
