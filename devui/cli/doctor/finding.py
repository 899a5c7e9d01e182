"""A finding of the doctor: how bad it is, what it is, and what to do."""

from typing import Literal, NamedTuple

Level = Literal["good", "note", "fault"]
"""A note is worth knowing, but everything works; with a fault, something doesn't."""


class Finding(NamedTuple):
    """A sentence, and what to do about it."""

    level: Level
    what: str
    advice: str = ""


def good(what: str) -> Finding:
    """Return a finding that something is fine."""
    return Finding("good", what)


def note(what: str, advice: str = "") -> Finding:
    """Return a finding that is worth knowing."""
    return Finding("note", what, advice)


def fault(what: str, advice: str) -> Finding:
    """Return a finding that something is wrong."""
    return Finding("fault", what, advice)
