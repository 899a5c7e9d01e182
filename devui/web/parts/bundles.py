"""A session as a file: what it leaves out."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """A state key that may be left out."""

    key: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Left:
    """Something that the file does not have."""

    kind: str
    hint: str
    count: str
    """`3 times`."""
    places: str
