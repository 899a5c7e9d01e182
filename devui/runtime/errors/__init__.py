"""The errors that users of the runtime may want to catch (adk-runtime 0, 2.4).

NotFoundError(Exception)
  InvocationNotFoundError (also a ValueError)
AlreadyExistsError(Exception)
InputValidationError(ValueError)
SessionNotFoundError(ValueError)
StaleSessionError(ValueError)
ToolExecutionError(Exception), with its ToolErrorType
"""

from enum import StrEnum
from typing import Self

# `AlreadyExistsError` (adk-runtime 0).


class AlreadyExistsError(Exception):
    """What should be created exists already."""

    def __init__(self, message: str = "The resource already exists.") -> None:
        self.message = message
        super().__init__(message)

    @classmethod
    def of_session(cls, session_id: str) -> Self:
        """Create the error for a session id that is taken."""
        return cls(
            f"Session {session_id!r} already exists. Read it with get_session, or create one with"
            " another id or none."
        )


# `InputValidationError` (adk-runtime 0).


class InputValidationError(ValueError):
    """A value given by the caller is not acceptable."""

    def __init__(self, message: str = "The input is not valid.") -> None:
        self.message = message
        super().__init__(message)


# `NotFoundError` (adk-runtime 0).


class NotFoundError(Exception):
    """The requested item does not exist."""

    def __init__(self, message: str = "The item was not found.") -> None:
        self.message = message
        super().__init__(message)


# `InvocationNotFoundError` (adk-runtime 0).


class InvocationNotFoundError(NotFoundError, ValueError):
    """The session has no invocation with that id."""

    def __init__(self, message: str = "The invocation was not found.") -> None:
        self.message = message
        super().__init__(message)


# `SessionNotFoundError` (adk-runtime 0).


class SessionNotFoundError(ValueError):
    """There is no session with that app, user and id."""

    def __init__(self, message: str = "The session was not found.") -> None:
        self.message = message
        super().__init__(message)


# `StaleSessionError` (adk-runtime 2.4).


class StaleSessionError(ValueError):
    """The session was changed in storage since this copy of it was read."""


# `ToolExecutionError`: a tool failed for a known reason (adk-runtime 0).


class ToolErrorType(StrEnum):
    """The kinds of failure that traces and clients can tell apart."""

    BAD_REQUEST = "BAD_REQUEST"
    UNAUTHORIZED = "UNAUTHORIZED"
    FORBIDDEN = "FORBIDDEN"
    NOT_FOUND = "NOT_FOUND"
    REQUEST_TIMEOUT = "REQUEST_TIMEOUT"
    INTERNAL_SERVER_ERROR = "INTERNAL_SERVER_ERROR"
    BAD_GATEWAY = "BAD_GATEWAY"
    SERVICE_UNAVAILABLE = "SERVICE_UNAVAILABLE"
    GATEWAY_TIMEOUT = "GATEWAY_TIMEOUT"


class ToolExecutionError(Exception):
    """Raised by a tool that knows what went wrong; `error_type` may also be any string."""

    def __init__(self, message: str, error_type: ToolErrorType | str | None = None) -> None:
        self.message = message
        self.error_type = error_type.value if isinstance(error_type, ToolErrorType) else error_type
        super().__init__(message)


__all__ = [
    "AlreadyExistsError",
    "InputValidationError",
    "InvocationNotFoundError",
    "NotFoundError",
    "SessionNotFoundError",
    "StaleSessionError",
    "ToolErrorType",
    "ToolExecutionError",
]
