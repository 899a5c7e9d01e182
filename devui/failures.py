"""Why a request or a command failed, and the exit status of the command (docs/guide/cli.md)."""

from collections.abc import Mapping, Sequence
from typing import Any

import click


class DevuiError(click.ClickException):
    """A request or command failed; `message` says why and what to do."""

    exit_code = 1
    status: int | None = None
    """The HTTP status of the failed response, if the failure is one."""


class BadRequestError(DevuiError):
    """The request is invalid; the server's message says why."""

    exit_code = 2


class UnavailableError(DevuiError):
    """No server responds."""

    exit_code = 3


class AuthenticationError(DevuiError):
    """The server rejected the token."""

    exit_code = 4


class NotFoundError(DevuiError):
    """The session, run, app or breakpoint doesn't exist."""

    exit_code = 5


class ConflictError(DevuiError):
    """Something changed in the meantime (409)."""

    exit_code = 6

    def __init__(
        self,
        message: str,
        position: Mapping[str, Any] | None = None,
        unknown: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(message)
        self.position = position
        """The current position of the run, if the conflict is about one."""
        self.unknown = unknown
        """Calls of unknown outcome that block the request."""


LEFT = 130
"""The exit status after Ctrl-C, as in shells."""
