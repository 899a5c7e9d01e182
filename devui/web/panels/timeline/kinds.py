"""The words and shapes of the kinds of events.

Word first, shape second, color third: no kind is recognized by its color alone. The shape is the
name of an icon; the color is the style sheets' `--kind-…`.
"""

from collections.abc import Mapping
from typing import Final

from devui.store.summaries import KINDS, ROW_WORDS, Kind

WORDS: Final[Mapping[Kind, str]] = {kind: ROW_WORDS.get(kind, kind) for kind in KINDS}

CODE: Final[frozenset[Kind]] = frozenset({"call", "result", "state", "code"})
"""Kinds whose summary is code or JSON."""

PROSE: Final[frozenset[Kind]] = frozenset({"text", "thought", "escalate"})
"""Kinds whose summary an agent wrote, often in Markdown; a person's words stay as typed."""

LOUDNESS: Final[dict[Kind, int]] = {
    "error": 22,
    "human": 20,
    "user": 16,
    "transfer": 14,
    "escalate": 14,
    "state": 12,
    "artifact": 12,
    "call": 9,
    "result": 9,
    "code": 9,
    "text": 11,
    "thought": 6,
    "checkpoint": 4,
    "other": 6,
}
"""Height of a kind's tick in pixels; the loudest kind represents a bin of events."""


def shape(kind: Kind, *, final: bool, has_failed: bool = False) -> str:
    """Return the name of the icon: a final response has its own, and a tool's error has that of
    errors, in their color."""
    if has_failed:
        return "error"
    return "final" if kind == "text" and final else kind


_KINDS: Final[Mapping[str, Kind]] = {kind: kind for kind in KINDS}


def kind_of(name: str) -> Kind:
    """Return the kind for a stored name; `other` for a kind that this version doesn't know."""
    return _KINDS.get(name, "other")
