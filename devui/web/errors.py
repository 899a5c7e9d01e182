"""The errors that a request can be answered with.

    EdgeError
    ├── BadRequest 400          the request is malformed
    ├── Forbidden 403           not allowed here, or not for this client
    ├── NotFound 404            the request names something that does not exist
    ├── Conflict 409            not possible in the current state
    ├── TooLarge 413            the body is larger than the route accepts
    ├── UnsupportedMedia 415    the route does not accept this media type or encoding
    ├── Unprocessable 422       the body is well-formed but asks for something invalid
    ├── Unreadable 500          the requested data is damaged in the journal
    ├── UnsupportedRoute 501    google-adk's server supports this, but this server doesn't
    ├── Unavailable 503         not possible now; try again after some seconds
    └── DiskUnavailable 503     the disk accepts no writes now; nothing was done

The client gets the status and the message as they are, so a message names what the client sent and
what to do about it, and never mentions internals. Every other exception is a bug of ours and is
answered with a 500 and an error id (see `error_pages`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

FieldError = Mapping[str, Any]
"""One entry of an ADK validation error: `type`, `loc`, `msg` (adk-web 1.1)."""


class EdgeError(Exception):
    """An error that is answered with its status and a reason."""

    status: ClassVar[int]
    title: ClassVar[str] = ""
    """The title of the error page; "" for the usual title of the status."""

    def __init__(self, detail: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.detail: str | Sequence[FieldError] = detail
        self.headers = dict(headers or {})


class BadRequest(EdgeError):
    """The request is malformed."""

    status = 400


class Forbidden(EdgeError):
    """The request is not allowed here, or not for this client."""

    status = 403


class UnsupportedRoute(EdgeError):
    """Supported by ADK's server but not by this one; the message names the alternative."""

    status = 501


class NotFound(EdgeError):
    """The request names something that does not exist."""

    status = 404


class Conflict(EdgeError):
    """The request is not possible in the current state."""

    status = 409


class TooLarge(EdgeError):
    """The body is larger than the route accepts."""

    status = 413

    def __init__(self, limit: int) -> None:
        super().__init__(f"the body is larger than the limit of {limit} bytes")


class UnsupportedMedia(EdgeError):
    """The route does not accept the body's media type or encoding."""

    status = 415


class Unprocessable(EdgeError):
    """The body is well-formed but asks for something invalid."""

    status = 422

    def __init__(self, detail: str | Sequence[FieldError]) -> None:
        super().__init__(detail if isinstance(detail, str) else sentence(detail))
        self.detail = detail


class Unreadable(EdgeError):
    """The requested data is damaged in the journal: neither the request nor the program is at
    fault."""

    status = 500
    title = "The journal is damaged"

    def __init__(self, detail: str) -> None:
        super().__init__(f"{detail}; run `devui doctor` to find the damage")


class Unavailable(EdgeError):
    """The server cannot handle the request now."""

    status = 503

    def __init__(self, detail: str, *, retry_after: int) -> None:
        """Ask the client to try again after `retry_after` seconds."""
        super().__init__(detail, headers={"Retry-After": str(retry_after)})


class DiskUnavailable(EdgeError):
    """The disk accepts no writes now; nothing that was requested has been done."""

    status = 503


def sentence(errors: Sequence[FieldError]) -> str:
    """Return field errors as one line for display: `state.a: should be a number; …`."""
    return "; ".join(
        f"{'.'.join(str(step) for step in error.get('loc', ())[1:]) or 'body'}: {error.get('msg')}"
        for error in errors
    )
