"""The interface of session sources, and the values that they exchange."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


class Unreadable(ValueError):
    """A file, folder or database can't be read; the message says which, where, and what to do."""


@dataclass(frozen=True, slots=True)
class Head:
    """A session's entry in a list."""

    app: str
    user: str
    id: str
    created: float
    """Seconds since the epoch."""
    updated: float
    events: int


@dataclass(frozen=True, slots=True)
class Choice:
    """Which sessions to import; None stands for all."""

    app: str | None = None
    user: str | None = None
    session: str | None = None

    def includes(self, head: Head) -> bool:
        """Whether the session is to be imported."""
        criteria = ((self.app, head.app), (self.user, head.user), (self.session, head.id))
        return all(name is None or name == value for name, value in criteria)


@dataclass(frozen=True, slots=True)
class States:
    """The stored state by scope; keys are without their prefixes."""

    session: Mapping[str, Any] = field(default_factory=dict)
    user: Mapping[str, Any] = field(default_factory=dict)
    app: Mapping[str, Any] = field(default_factory=dict)


class Notes:
    """Notes on what couldn't be imported, without duplicates."""

    def __init__(self) -> None:
        self.lines: dict[str, None] = {}

    def add(self, line: str) -> None:
        """Add a note that something was left out, and where it is."""
        self.lines[line] = None


class SessionSource(Protocol):
    """A place where sessions are stored. Every method may raise Unreadable."""

    @property
    def place(self) -> str:
        """The file, folder or address without a password, for display."""

    def heads(self) -> list[Head]:
        """Return all sessions, the most recently changed one last."""

    def states(self, head: Head, notes: Notes) -> States:
        """Return the state of a session, including what it shares with others."""

    def events(self, head: Head, notes: Notes) -> Iterator[dict[str, Any]]:
        """Yield the events of a session in ADK's wire form, in order."""
