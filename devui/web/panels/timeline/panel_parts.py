"""The timeline around its rows: the filter, the gaps, and the parts above and below them."""

from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from devui.web.panels.hold.parts import HeldRows
from devui.web.panels.timeline.gaps import Gap
from devui.web.panels.timeline.parts import LiveRows, TimelineItem
from devui.web.panels.trace.parts import TracePanel, ViewSwitch

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class FilterSummary:
    """The number of events shown. Goes into `#filter-said`."""

    template: ClassVar[str] = "timeline/filter_said.html"
    shown_count: int = 0
    """Events that match the filter."""
    hidden_count: int = 0
    is_on: bool = False


@dataclass(frozen=True, slots=True)
class FilterBar:
    template: ClassVar[str] = "timeline/filter_bar.html"
    action: str
    words_href: str
    """Where the terms for this session's filters are listed."""
    clear_href: str
    text: str
    """The text as typed."""
    active_text: str
    """The filter in force: "" for none, or if the text is invalid."""
    error: str
    summary: FilterSummary
    other_fields: tuple[tuple[str, str], ...]
    """The other parameters of the page's address."""


@dataclass(frozen=True, slots=True)
class FilterWord:
    text: str
    """`kind:call`."""
    about: str
    """`12 events`, or a description of the field."""


@dataclass(frozen=True, slots=True)
class FilterWords:
    """The terms that a filter can use. Goes into `#filter-words`."""

    template: ClassVar[str] = "timeline/filter_words.html"
    words: tuple[FilterWord, ...]


@dataclass(frozen=True, slots=True)
class FilterChip:
    """A link that adds a kind or an author to the filter, or removes it."""

    id: str
    text: str
    term: str
    """`kind:call`, `author:planner`."""
    kind: str
    """The kind that gives it its icon and color; "" for an author."""
    count: int
    """Events of this kind or author, up to the one that the page is as of."""
    is_pressed: bool
    """Whether the filter has the term."""
    filter: str
    """The filter after a click."""
    href: str


@dataclass(frozen=True, slots=True)
class FilterChips:
    """The filter's chips. Goes into `#filter-chips`; empty for a session with a single kind."""

    template: ClassVar[str] = "timeline/filter_chips.html"
    kinds: tuple[FilterChip, ...] = ()
    authors: tuple[FilterChip, ...] = ()


@dataclass(frozen=True, slots=True)
class NewerEventsLink:
    """The link below the last row of a page as of an event."""

    template: ClassVar[str] = "timeline/later.html"
    live_href: str
    """The page with the newest events."""
    count: int
    """The number of later events."""


@dataclass(frozen=True, slots=True)
class Timeline:
    template: ClassVar[str] = "timeline/timeline.html"
    items: tuple[TimelineItem, ...]
    live: LiveRows
    held_rows: HeldRows
    count: int
    """The number of the page's last event, shown or in a gap."""
    switch: ViewSwitch
    filter: FilterBar
    gaps_href: str
    """Where to request the rows of gaps."""
    chips: FilterChips = FilterChips()
    above: Gap | None = None
    below: Gap | None = None
    later: NewerEventsLink | None = None
    """The link to later events, if there are any after the one that the page is as of."""
    trace: TracePanel | None = None
    """The trace shown in place of the rows; None if the rows are shown."""


@dataclass(frozen=True, slots=True)
class GapContent(Generic[Item]):
    """The rows or messages that replace a gap."""

    template: ClassVar[str] = "timeline/filled.html"
    items: tuple[Item, ...]
    above: Gap | None = None
    below: Gap | None = None
