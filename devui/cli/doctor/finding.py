"""One thing that the doctor found: how bad it is, what it is, and what to do."""

from typing import Literal, NamedTuple

Level = Literal["good", "note", "fault"]
"""A note is worth knowing and leaves everything working; a fault does not."""


class Finding(NamedTuple):
    """One sentence, and the way out of it."""

    level: Level
    what: str
    advice: str = ""


def good(what: str) -> Finding:
    """Something that was looked at and is as it should be."""
    return Finding("good", what)


def note(what: str, advice: str = "") -> Finding:
    """Something worth knowing."""
    return Finding("note", what, advice)


def fault(what: str, advice: str) -> Finding:
    """Something that is wrong."""
    return Finding("fault", what, advice)


def quantity(number: int, noun: str) -> str:
    """`1 event`, `12 events`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
