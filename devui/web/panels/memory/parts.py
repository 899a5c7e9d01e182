"""The memory of an app, listed or searched."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """One memory."""

    author: str
    at: str
    """The time as the service reports it, to the minute."""
    text: str


@dataclass(frozen=True, slots=True)
class MemoryPanel:
    """A user's memories, on the page of an app. Its element is `#memory`."""

    template: ClassVar[str] = "memory/memory_panel.html"
    action: str
    user: str
    query: str
    items: tuple[MemoryItem, ...] = ()
    service: str = ""
    """The class of the service."""
    note: str = ""
    """Why there are no memories, or not all of them."""
