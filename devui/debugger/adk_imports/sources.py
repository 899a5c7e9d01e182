"""What a source of sessions is, and why one cannot be read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


class Unreadable(ValueError):
    """A file, folder or database cannot be read: which one, where in it, and what to do."""


@dataclass(frozen=True, slots=True)
class Head:
    """A session as a list shows it."""

    app: str
    user: str
    id: str
    created: float
    """Seconds since the epoch."""
    updated: float
    events: int


@dataclass(frozen=True, slots=True)
class Choice:
    """Which sessions are wanted; None stands for all."""

    app: str | None = None
    user: str | None = None
    session: str | None = None

    def includes(self, head: Head) -> bool:
        """Whether the session is wanted."""
        criteria = ((self.app, head.app), (self.user, head.user), (self.session, head.id))
        return all(name is None or name == value for name, value in criteria)


@dataclass(frozen=True, slots=True)
class States:
    """The state as it is stored now, by scope; keys without their prefixes."""

    session: Mapping[str, Any] = field(default_factory=dict)
    user: Mapping[str, Any] = field(default_factory=dict)
    app: Mapping[str, Any] = field(default_factory=dict)


class Notes:
    """What of a session could not be brought along, each thing once."""

    def __init__(self) -> None:
        self.lines: dict[str, None] = {}

    def add(self, line: str) -> None:
        """Say that something was left out: what, and where it stands."""
        self.lines[line] = None


class SessionSource(Protocol):
    """Where sessions are stored. Every method raises Unreadable."""

    @property
    def place(self) -> str:
        """The file, folder or address, for people; without a password."""

    def heads(self) -> list[Head]:
        """All sessions, the one that changed last at the end."""

    def states(self, head: Head, notes: Notes) -> States:
        """The state of a session, and what it shares with others."""

    def events(self, head: Head, notes: Notes) -> Iterator[dict[str, Any]]:
        """Its events in ADK's wire form, in order."""
