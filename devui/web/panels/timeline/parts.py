"""The timeline: one row per event, grouped by invocation."""

from dataclasses import dataclass
from typing import ClassVar, Generic, Literal, TypeAlias, TypeVar

from devui.web.basic_parts import Failure, JsonText, Moment, Status
from devui.web.panels.breakpoints.parts import GutterMark
from devui.web.panels.hold.parts import HeldRows
from devui.web.panels.inspector.mark_parts import RewindMark
from devui.web.panels.notes.parts import NO_NOTE, NoteMark
from devui.web.panels.timeline.gaps import Gap
from devui.web.panels.trace.parts import TracePanel, ViewSwitch

Item = TypeVar("Item")
FlagKind = Literal[
    "astray",
    "edited",
    "dirty",
    "silent",
    "overlap",
    "delta",
    "artifact",
    "size",
    "chunks",
    "partial",
    "final",
    "long",
    "cut",
    "error",
    "attempt",
]


@dataclass(frozen=True, slots=True)
class Flag:
    """A word beside the row's text. One of each kind."""

    template: ClassVar[str] = "timeline/flag.html"
    kind: FlagKind
    text: str
    hint: str = ""
    icon: str = ""
    """The shape before the text."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event, one line. The element's id is `e-{number}`."""

    template: ClassVar[str] = "timeline/event_row.html"
    number: int
    kind: str
    word: str
    shape: str
    author: str
    text: str
    code: bool
    """The text is code or JSON."""
    flags: tuple[Flag, ...]
    mark: GutterMark
    """At the left edge: the breakpoints that sit here."""
    elapsed: str
    """Seconds at work since the event before; a dash for unknown."""
    tokens: str
    cost: str
    """Dollars; a dash for unknown."""
    depth: int
    """How many agents or nodes of the tree are above it."""
    branch: str
    group: str
    """DOM id of the invocation's header."""
    href: str
    is_selected: bool = False
    fork_href: str = ""
    """The same event with the form for a fork open."""
    note: NoteMark = NO_NOTE
    node: str = ""
    """The path of the node of a workflow; its name stands for the author."""
    answers: bool = False
    """Its row comes directly after that of the call whose results it has: the two read as one."""
    lead: str = ""
    """The beginning of the text that its call says, too."""
    aside: bool = False
    """A checkpoint, or a change of the state alone: it belongs to what is above it."""
    bar: int = 0
    """How long the bar of the duration is, in steps up to 12."""
    path: str = ""
    """The agents or nodes from the root to its own; "" if that is unknown."""
    lane: int = 0
    """The place of its branch among parallel ones, from 1, and the last place for all further
    branches; 0 without a branch."""
    held_note: str = ""
    """What is said of the time that the run was held before the event; "" without."""
    token_count: int | None = None
    """All tokens of the model's answer, which a fold sums up; None without."""
    seconds: float = 0.0
    """At work since the event before, which a fold sums up."""
    dollars: float | None = None
    """What they cost; None if that is unknown."""
    rewind: RewindMark | None = None


@dataclass(frozen=True, slots=True)
class InvocationHeader:
    """The row above an invocation's events; its element's id is `group`.

    It speaks of the whole invocation, whatever of it the page shows.
    """

    template: ClassVar[str] = "timeline/invocation.html"
    group: str
    text: str
    """What the user said."""
    events: str
    elapsed: str
    tokens: str
    """`1.2k tok`; "" when no model has counted any."""
    cost: str
    """`$0.42`; "" when nothing of it is known."""
    continued: bool = False
    """The invocation began before the rows under it."""
    is_later: bool = False
    """Events of another invocation are between these and the ones before."""
    held_note: str = ""
    """What is said of the time that it was held; "" without."""
    failures: str = ""
    """`2 failed`; "" without."""


@dataclass(frozen=True, slots=True)
class LiveRow:
    """An event that is still being produced: a run of partial events."""

    shape: str
    kind: str
    word: str
    author: str
    text: str
    chunks: str


@dataclass(frozen=True, slots=True)
class LiveRows:
    """Goes into `#live-rows`."""

    template: ClassVar[str] = "timeline/live_rows.html"
    rows: tuple[LiveRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Later:
    """Below the last event of a page that is as of it."""

    template: ClassVar[str] = "timeline/later.html"
    live_href: str
    """The page with the newest events."""
    count: int
    """How many events are not shown."""


@dataclass(frozen=True, slots=True)
class DroppedRow:
    """An event that a person let fall, where it would have been. Its id is `d-{edit}`."""

    template: ClassVar[str] = "timeline/dropped.html"
    edit: int
    text: str
    """`Ada dropped an event of planner`."""
    moment: Moment
    original: JsonText


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended when it did not simply finish; a row of the timeline."""

    template: ClassVar[str] = "timeline/run_end.html"
    run: str
    status: Status
    text: str
    moment: Moment
    failure: Failure | None = None


TimelineItem: TypeAlias = InvocationHeader | EventRow | RunEnd | DroppedRow


@dataclass(frozen=True, slots=True)
class FilterSummary:
    """How many events are shown. Goes into `#filter-said`."""

    template: ClassVar[str] = "timeline/filter_said.html"
    shown_count: int = 0
    """Events that the filter lets through."""
    hidden_count: int = 0
    is_on: bool = False


@dataclass(frozen=True, slots=True)
class FilterBar:
    template: ClassVar[str] = "timeline/filter_bar.html"
    action: str
    words_href: str
    """Where what may be asked of this session is told."""
    clear_href: str
    text: str
    """What was typed."""
    active_text: str
    """What is in force: "" for none, and where the text cannot be read."""
    error: str
    summary: FilterSummary
    other_fields: tuple[tuple[str, str], ...]
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
    """The kind that its icon and colour are of; "" for an author."""
    count: int
    """Events of this kind or author, up to the one that the page is as of."""
    pressed: bool
    """The filter has the term."""
    filter: str
    """The filter after a click."""
    href: str


@dataclass(frozen=True, slots=True)
class FilterChips:
    """Goes into `#filter-chips`; empty for a session of a single kind."""

    template: ClassVar[str] = "timeline/filter_chips.html"
    kinds: tuple[FilterChip, ...] = ()
    authors: tuple[FilterChip, ...] = ()


@dataclass(frozen=True, slots=True)
class Timeline:
    template: ClassVar[str] = "timeline/timeline.html"
    items: tuple[TimelineItem, ...]
    live: LiveRows
    held_rows: HeldRows
    count: int
    """Events of the whole session."""
    switch: ViewSwitch
    filter: FilterBar
    gaps_href: str
    """Where the rows of gaps come from."""
    chips: FilterChips = FilterChips()
    above: Gap | None = None
    below: Gap | None = None
    later: Later | None = None
    """There are events after the one that the page is as of."""
    trace: TracePanel | None = None
    """What is shown in the place of the rows; None if they are."""


@dataclass(frozen=True, slots=True)
class Filled(Generic[Item]):
    """What takes the place of a gap: rows, or messages."""

    template: ClassVar[str] = "timeline/filled.html"
    items: tuple[Item, ...]
    above: Gap | None = None
    below: Gap | None = None
