"""Small values that many parts show."""

from dataclasses import dataclass
from typing import ClassVar, Literal

Tone = Literal["info", "warn", "bad"]


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time, ready to be shown; the browser adds how long ago it was."""

    iso: str
    """UTC, for the `datetime` attribute."""
    clock: str
    """Local time with milliseconds: `14:02:11.532`."""
    full: str
    """Local date and time to the second."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence on top of the page: an app was reloaded, is broken, a request failed."""

    template: ClassVar[str] = "parts/notice.html"
    tone: Tone
    title: str
    text: str = ""
    href: str | None = None
    """Where to go about it."""
    label: str = ""
    """The words of that link."""
    seen: str = ""
    """What tells it from others, if it can be put away."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled value in the inspector."""

    label: str
    value: str
    mono: bool = False
    hint: str = ""
    """Why the value is as it is, or what it means; muted, after the value."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception in agent code: what happened, where, and the whole traceback."""

    template: ClassVar[str] = "parts/failure.html"
    message: str
    place: str = ""
    """`agent.py:14`, the innermost line of the developer's own code."""
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Beside:
    """One of the things that go on at the same time, as an item of a list."""

    template: ClassVar[str] = "parts/beside.html"
    status: Literal["held", "running", "behind"]
    word: str
    who: str
    doing: str
    place: str
    since: Moment | None
