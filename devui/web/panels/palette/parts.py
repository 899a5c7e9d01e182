"""The command palette's results from the server."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class PaletteItem:
    """A place to go to."""

    label: str
    href: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class PaletteGroup:
    """Items of one kind."""

    title: str
    items: tuple[PaletteItem, ...]


@dataclass(frozen=True, slots=True)
class PaletteResults:
    template: ClassVar[str] = "palette/results.html"
    groups: tuple[PaletteGroup, ...]
    is_indexing: bool = False
    """Whether events are still being indexed for the search: the palette then asks again."""
