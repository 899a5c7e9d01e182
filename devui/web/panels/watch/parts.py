"""The strip of watched keys above the panes."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.panels.state.parts import WatchButton


@dataclass(frozen=True, slots=True)
class WatchedKey:
    """A key and its value."""

    label: str
    history: str
    """The link to its writes."""
    text: str
    """The value on one line; "" if there is none."""
    mark: Literal["same", "new", "changed", "removed"]
    """What the strip's event, or the last event, did to the key."""
    old: str
    """The previous value, if it has changed."""
    button: WatchButton


@dataclass(frozen=True, slots=True)
class WatchStrip:
    """The keys as of an event, or now. Goes into `#watched`."""

    template: ClassVar[str] = "watch/strip.html"
    number: int | None = None
    """The event that the values are as of; None for now."""
    keys: tuple[WatchedKey, ...] = ()
