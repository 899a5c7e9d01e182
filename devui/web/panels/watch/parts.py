"""The watched keys: the strip above the panes, and the buttons that put keys there."""

from dataclasses import dataclass
from typing import ClassVar, Literal


@dataclass(frozen=True, slots=True)
class WatchButton:
    """Watches a key, or stops watching it."""

    template: ClassVar[str] = "watch/button.html"
    action: str
    key: str
    """With its prefix, as it is."""
    label: str
    """The same for people."""
    is_watched: bool
    in_strip: bool = False
    event: int | None = None
    """What the page shows the state as of, to come back to; None for now."""
    at: int | None = None
    """The event that the whole page is as of."""


@dataclass(frozen=True, slots=True)
class WatchedKey:
    """A key and its value."""

    label: str
    history: str
    """Where its writes are."""
    text: str
    """The value on one line; "" where there is none."""
    mark: Literal["same", "new", "changed", "removed"]
    """What the event did to it that the strip is as of, or the last one."""
    old: str
    """What was there before, if it has changed."""
    button: WatchButton


@dataclass(frozen=True, slots=True)
class WatchStrip:
    """The keys as of an event, or now. Goes into `#watched`."""

    template: ClassVar[str] = "watch/strip.html"
    number: int | None = None
    """The event; None for now."""
    keys: tuple[WatchedKey, ...] = ()
