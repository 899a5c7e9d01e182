"""Why a request or a command failed, and the exit status of the command (docs/guide/cli.md)."""

from collections.abc import Mapping, Sequence
from typing import Any

import click


class DevuiError(click.ClickException):
    """Something that was asked for did not come about; `message` says why and what to do."""

    exit_code = 1
    status: int | None = None
    """The HTTP status of the answer; None if there was no answer that failed."""


class BadRequestError(DevuiError):
    """What was asked for makes no sense here; the server says why."""

    exit_code = 2


class UnavailableError(DevuiError):
    """No server answers."""

    exit_code = 3


class AuthenticationError(DevuiError):
    """The server does not know the token."""

    exit_code = 4


class NotFoundError(DevuiError):
    """There is no such session, run, app or breakpoint."""

    exit_code = 5


class ConflictError(DevuiError):
    """Something else has happened meanwhile: the answer of a 409."""

    exit_code = 6

    def __init__(
        self,
        message: str,
        position: Mapping[str, Any] | None = None,
        unknown: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(message)
        self.position = position
        """Where the run stands now, if it is about a run."""
        self.unknown = unknown
        """Calls of unknown outcome that are in the way."""


LEFT = 130
"""The exit status after Ctrl-C, as shells have it."""
