"""Forks as the store takes them and hands them out."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NewFork:
    """Where a session is to be forked, and how the fork is called."""

    number: int
    """The last event that the fork begins with; 0: none."""
    id: str
    """The id of the new session."""
    reason: str
    """What was changed, in a word; `event`: the first event behind it replaces the parent's."""
    note: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class ForkRow:
    session: int
    """The key of the fork."""
    parent: int
    """The key of the session it was forked from, which may have been deleted since."""
    number: int
    """The parent's last event that the fork began with."""
    reason: str
    note: str | None
    invocation: str | None
    """The invocation that the fork cut through and that nobody has resumed or closed yet."""
    created: float

    @property
    def at(self) -> int:
        """The event of the parent at which it was made: its last one, or the one that was edited in
        its place."""
        return self.number + 1 if self.reason == "event" else self.number
