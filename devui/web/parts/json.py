"""JSON values as folding trees and as highlighted text."""

from dataclasses import dataclass
from typing import ClassVar, Literal

JsonKind = Literal["object", "array", "string", "text", "number", "boolean", "null", "cut"]


@dataclass(frozen=True, slots=True)
class JsonNode:
    """One value of a tree.

    A `text` is a string too long for its line; `cut` stands for what was left out.
    """

    kind: JsonKind
    text: str
    """A scalar as JSON, a folded value's one-line preview, or what was left out."""
    key: str | None = None
    """The member's name or the item's index; None for the root."""
    note: str = ""
    """How much a folded value holds: `12 items`, `10,000 characters`."""
    children: tuple["JsonNode", ...] = ()
    body: str = ""
    """The whole text of a `text` node."""
    open: bool = False
    href: str = ""
    """Who wrote what is here; "" where that is not known."""


@dataclass(frozen=True, slots=True)
class JsonTree:
    template: ClassVar[str] = "parts/json_tree.html"
    root: JsonNode
    linked: bool = False
    """Its names are links."""


@dataclass(frozen=True, slots=True)
class JsonText:
    """Indented JSON as coloured pieces; `pieces` are pairs of a class (or "") and text."""

    template: ClassVar[str] = "parts/json_text.html"
    pieces: tuple[tuple[str, str], ...]
    size: str
    """The size of the whole text in words: `1.2 kB`."""
    cut: str = ""
    """How much of a very large text is not shown."""
    href: str = ""
    """Where all of it is."""
