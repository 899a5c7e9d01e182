"""The memory of an app, listed or searched."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """One memory."""

    author: str
    at: str
    """As the service tells it."""
    text: str


@dataclass(frozen=True, slots=True)
class MemoryPanel:
    """Its element is `#memory`, on the page of an app."""

    template: ClassVar[str] = "memory/memory_panel.html"
    action: str
    user: str
    query: str
    items: tuple[MemoryItem, ...] = ()
    service: str = ""
    """The class of the service."""
    note: str = ""
    """Why there is nothing to see, or not all."""
