"""The watched keys: the strip above the panes."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.panels.state.parts import WatchButton


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
