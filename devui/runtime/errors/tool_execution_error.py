"""`ToolExecutionError`: a tool failed in a way that has a name (adk-runtime 0)."""

from enum import StrEnum


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
    """Raised by a tool that knows what went wrong; `error_type` may also be a text of its own."""

    def __init__(self, message: str, error_type: ToolErrorType | str | None = None) -> None:
        self.message = message
        self.error_type = error_type.value if isinstance(error_type, ToolErrorType) else error_type
        super().__init__(message)
