"""Rows of the timeline: one per event, grouped by invocation."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from devui.web.basic_parts import Failure, JsonText, Moment, Status
from devui.web.panels.breakpoints.parts import GutterMark
from devui.web.panels.inspector.mark_parts import RewindMark
from devui.web.panels.notes.parts import NO_NOTE, NoteMark

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
    "round",
    "changed",
]


@dataclass(frozen=True, slots=True)
class Flag:
    """A word beside the row's text; at most one of each kind."""

    template: ClassVar[str] = "timeline/flag.html"
    kind: FlagKind
    text: str
    hint: str = ""
    icon: str = ""
    """The icon before the text."""


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
    """Whether the text is code or JSON."""
    flags: tuple[Flag, ...]
    mark: GutterMark
    """The mark at the left edge: the breakpoints on this event."""
    elapsed: str
    """Working time since the previous event, in seconds; a dash if unknown."""
    tokens: str
    cost: str
    """Dollars; a dash if unknown."""
    depth: int
    """The number of agents or nodes above it in the tree."""
    branch: str
    group: str
    """DOM id of the invocation's header."""
    href: str
    is_selected: bool = False
    fork_href: str = ""
    """The same event with the fork form open."""
    note: NoteMark = NO_NOTE
    node: str = ""
    """The path of the workflow node; its name replaces the author."""
    answers: bool = False
    """Whether its row directly follows that of the calls it answers: the two read as one."""
    replaces_call: bool = False
    """Whether the call above, which it answers, ran with the arguments shown here instead."""
    lead: str = ""
    """The start of the text that repeats the name of the tool in its call."""
    aside: bool = False
    """Whether it is a checkpoint or only changes state: it belongs to the row above."""
    changes: str = ""
    """The keys that such a row changes, shown where it is folded: `bill, tip`."""
    bar: int = 0
    """The length of the duration's bar, in steps up to 12."""
    path: str = ""
    """The agents or nodes from the root to its own; "" if unknown."""
    lane: int = 0
    """The place of its branch among parallel ones, from 1; branches beyond the last place share it.
    0 without a branch."""
    held_note: str = ""
    """A note about the time that the run was held before the event; "" if it wasn't."""
    token_count: int | None = None
    """All tokens of the model's answer, for the sums of a fold; None without any."""
    seconds: float = 0.0
    """Working time since the previous event, for the sums of a fold."""
    dollars: float | None = None
    """The cost of the tokens; None if unknown."""
    rewind: RewindMark | None = None


@dataclass(frozen=True, slots=True)
class InvocationHeader:
    """The row above an invocation's events; its element's id is `group`.

    Its figures cover the whole invocation, however much of it the page shows.
    """

    template: ClassVar[str] = "timeline/invocation.html"
    group: str
    text: str
    """The user's message."""
    events: str
    elapsed: str
    tokens: str
    """`1.2k tok`; "" if no model has reported any."""
    cost: str
    """`$0.42`; "" if unknown."""
    continued: bool = False
    """Whether the invocation began before the rows under it."""
    is_later: bool = False
    """Whether events of another invocation are between these and its earlier ones."""
    held_note: str = ""
    """A note about the time that it was held; "" if it wasn't."""
    failures: str = ""
    """`2 failed`; "" for none."""


@dataclass(frozen=True, slots=True)
class LiveRow:
    """An event that is still being produced from partial events."""

    shape: str
    kind: str
    word: str
    author: str
    text: str
    chunks: str


@dataclass(frozen=True, slots=True)
class LiveRows:
    """The rows of the answers being streamed. Goes into `#live-rows`."""

    template: ClassVar[str] = "timeline/live_rows.html"
    rows: tuple[LiveRow, ...] = ()


@dataclass(frozen=True, slots=True)
class DroppedRow:
    """An event that a person dropped, where it would have been. Its id is `d-{edit}`."""

    template: ClassVar[str] = "timeline/dropped.html"
    edit: int
    text: str
    """`Ada dropped an event of planner`."""
    moment: Moment
    original: JsonText


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The end of a run that didn't finish normally, as a row of the timeline."""

    template: ClassVar[str] = "timeline/run_end.html"
    run: str
    status: Status
    text: str
    moment: Moment
    failure: Failure | None = None


TimelineItem: TypeAlias = InvocationHeader | EventRow | RunEnd | DroppedRow
