"""The timeline: one row per event, grouped by invocation."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from devui.web.parts.basics import Moment
from devui.web.parts.chat import ChatMessage
from devui.web.parts.debugger import Held
from devui.web.parts.filtering import FilterBar
from devui.web.parts.gutter import GutterMark
from devui.web.parts.json import JsonText
from devui.web.parts.marks import TakenBackMark
from devui.web.parts.notes import NO_NOTE, NoteMark
from devui.web.parts.session import RunEnd, RunNote

FlagKind = Literal[
    "astray",
    "edited",
    "dirty",
    "silent",
    "overlap",
    "delta",
    "artifact",
    "chunks",
    "partial",
    "final",
    "long",
    "error",
]


@dataclass(frozen=True, slots=True)
class Flag:
    """A word beside the row's text. One of each kind."""

    template: ClassVar[str] = "parts/flag.html"
    kind: FlagKind
    text: str
    hint: str = ""
    icon: str = ""
    """The shape before the text."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event, one line. The element's id is `e-{number}`."""

    template: ClassVar[str] = "parts/event_row.html"
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
    """How many agents the branch is below its root, at most 4."""
    branch: str
    group: str
    """DOM id of the invocation's header."""
    href: str
    selected: bool = False
    fork_href: str = ""
    """The same event with the form for a fork open."""
    note: NoteMark = NO_NOTE
    node: str = ""
    """The path of the node of a workflow; its name stands for the author."""
    held: str = ""
    """What is said of the time that the run was held before the event; "" without."""
    taken: TakenBackMark | None = None


@dataclass(frozen=True, slots=True)
class InvocationHeader:
    """The row above an invocation's events; its element's id is `group`."""

    template: ClassVar[str] = "parts/invocation.html"
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
    """The invocation began before this window."""
    held: str = ""
    """What is said of the time that it was held; "" without."""


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

    template: ClassVar[str] = "parts/live_rows.html"
    rows: tuple[LiveRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Earlier:
    """The end of the window: a link to what came before, followed when it scrolls into view."""

    template: ClassVar[str] = "parts/earlier.html"
    href: str
    """The fragment of older rows."""
    page_href: str
    """The same as a page."""
    count: int
    """How many events are above."""


@dataclass(frozen=True, slots=True)
class Later:
    """The other end of a window that the newest events are not in. Goes into `#later`."""

    template: ClassVar[str] = "parts/later.html"
    live_href: str
    """The page with the newest events."""
    count: int | None = None
    """How many are not shown; None: nobody has counted."""
    next_href: str = ""
    """The page around the next of them; "": the page is as of the last that it shows."""


@dataclass(frozen=True, slots=True)
class DroppedRow:
    """An event that a person let fall, where it would have been. Its id is `d-{edit}`."""

    template: ClassVar[str] = "parts/dropped.html"
    edit: int
    text: str
    """`Ada dropped an event of planner`."""
    moment: Moment
    original: JsonText


TimelineItem: TypeAlias = InvocationHeader | EventRow | RunEnd | DroppedRow


@dataclass(frozen=True, slots=True)
class Timeline:
    template: ClassVar[str] = "parts/timeline.html"
    items: tuple[TimelineItem, ...]
    live: LiveRows
    held: Held
    count: int
    """Events of the whole session."""
    filter: FilterBar
    earlier: Earlier | None = None
    later: Later | None = None
    """There are events after the one that the page is as of."""


@dataclass(frozen=True, slots=True)
class Older:
    """The answer that `Earlier` asks for.

    It takes the place of `Earlier` and puts the older messages above the chat.
    """

    template: ClassVar[str] = "parts/older.html"
    items: tuple[TimelineItem, ...]
    messages: tuple[ChatMessage | RunNote, ...]
    earlier: Earlier | None = None
