"""The filter above the timeline: its field, what it found, what else may be asked."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class FilterSaid:
    """How many events are shown. Goes into `#filter-said`."""

    template: ClassVar[str] = "parts/filter_said.html"
    shown: int = 0
    """Events that the filter lets through."""
    hidden: int = 0
    is_on: bool = False


@dataclass(frozen=True, slots=True)
class FilterBar:
    template: ClassVar[str] = "parts/filter_bar.html"
    action: str
    words_href: str
    """Where what may be asked of this session is told."""
    clear_href: str
    text: str
    """What was typed."""
    applied: str
    """What is in force: "" for none, and where the text cannot be read."""
    error: str
    said: FilterSaid
    kept: tuple[tuple[str, str], ...]
    """What else the address of the page says."""


@dataclass(frozen=True, slots=True)
class FilterWord:
    text: str
    """`kind:call`."""
    about: str
    """`12 events`, or what the field is."""


@dataclass(frozen=True, slots=True)
class FilterWords:
    """The terms that a filter may have. Goes into `#filter-words`."""

    template: ClassVar[str] = "parts/filter_words.html"
    words: tuple[FilterWord, ...]
