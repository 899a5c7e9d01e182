"""What can be wrong with a request, as seen at the edge.

    EdgeError
    ├── BadRequest 400          the request cannot be read
    ├── Forbidden 403           it is not done here, or not for whoever asks
    ├── NotFound 404            it names something that is not there
    ├── Conflict 409            it cannot be done as things stand
    ├── TooLarge 413            its body is larger than this route takes
    ├── UnsupportedMedia 415    its body is of a kind this route does not take
    ├── Unprocessable 422       its body reads well and says something impossible
    ├── Unreadable 500          what the journal holds of it is damaged
    ├── NotThere 501            google-adk's server does it, this one does not
    └── Unavailable 503         not now; try again after some seconds

The status and the sentence go to the client as they are, so a sentence names what the client sent
and what to do, and nothing of the inside. Everything else that is raised is our fault and ends as
a 500 with an error id (see `error_pages`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

FieldError = Mapping[str, Any]
"""One entry of ADK's validation answer: `type`, `loc`, `msg` (adk-web 1.1)."""


class EdgeError(Exception):
    """A request that gets an answer below 600 with a reason."""

    status: ClassVar[int]
    title: ClassVar[str] = ""
    """What heads the page that tells of it; "" for that of its status."""

    def __init__(self, detail: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.detail: str | Sequence[FieldError] = detail
        self.headers = dict(headers or {})


class BadRequest(EdgeError):
    """The request cannot be read."""

    status = 400


class Forbidden(EdgeError):
    """It is not done here, or not for whoever asks."""

    status = 403


class NotThere(EdgeError):
    """ADK's server does it, this one does not; the sentence says what does."""

    status = 501


class NotFound(EdgeError):
    """The request names something that is not there."""

    status = 404


class Conflict(EdgeError):
    """The request cannot be done as things stand."""

    status = 409


class TooLarge(EdgeError):
    """The body is larger than the route takes."""

    status = 413

    def __init__(self, limit: int) -> None:
        super().__init__(f"the body is larger than the limit of {limit} bytes")


class UnsupportedMedia(EdgeError):
    """The body is of a kind that the route does not take."""

    status = 415


class Unprocessable(EdgeError):
    """The body reads well but says something impossible."""

    status = 422

    def __init__(self, detail: str | Sequence[FieldError]) -> None:
        super().__init__(detail if isinstance(detail, str) else sentence(detail))
        self.detail = detail


class Unreadable(EdgeError):
    """What the journal holds of it is damaged: no fault of the request, nor of the program."""

    status = 500
    title = "The journal is damaged"

    def __init__(self, detail: str) -> None:
        super().__init__(f"{detail}; run `devui doctor` to find the damage")


class Unavailable(EdgeError):
    """The server cannot take this now."""

    status = 503

    def __init__(self, detail: str, *, retry_after: int) -> None:
        """Ask the client to come back after `retry_after` seconds."""
        super().__init__(detail, headers={"Retry-After": str(retry_after)})


class Unwritten(EdgeError):
    """The disk takes nothing now: nothing of what was asked for has been done."""

    status = 503


def sentence(errors: Sequence[FieldError]) -> str:
    """Write a list of field errors as one line for people: `state.a: should be a number; …`."""
    return "; ".join(
        f"{'.'.join(str(step) for step in error.get('loc', ())[1:]) or 'body'}: {error.get('msg')}"
        for error in errors
    )
