"""What stands around the panes of a session: top bar, run, totals, transport bar."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.basic_parts import Moment, RunStatus
from devui.web.panels.notes.parts import NoteForm
from devui.web.panels.recovery.parts import Lineage
from devui.web.panels.usage.parts import Spending


@dataclass(frozen=True, slots=True)
class MenuItem:
    label: str
    href: str
    note: str = ""
    current: bool = False
    updated: Moment | None = None


@dataclass(frozen=True, slots=True)
class PageStream:
    """What brings the page everything that comes after it. The element's id is `stream`."""

    template: ClassVar[str] = "session/page_stream.html"
    href: str


@dataclass(frozen=True, slots=True)
class Totals:
    """Figures of the whole session. Goes into `#totals`; a dash for unknown."""

    template: ClassVar[str] = "session/totals.html"
    events: str
    tokens: str
    cost: str
    """`$0.42`; with `+` when some of it is unknown."""
    seconds: str
    """Time spent at work in runs, in seconds."""
    held_note: str = ""
    """What is said of the time in which they were held; "" without."""


@dataclass(frozen=True, slots=True)
class Title:
    """The session's name, renamed in place. Goes into `#title`."""

    template: ClassVar[str] = "session/title.html"
    key: int
    """Its number, by which people and commands of the terminal name it."""
    title: str
    """What the developer called it, or ""."""
    fallback: str
    """What it is called without a title."""
    action: str


@dataclass(frozen=True, slots=True)
class EngineLabel:
    """The same in a word, beside the app's name."""

    template: ClassVar[str] = "session/engine_label.html"
    name: str


@dataclass(frozen=True, slots=True)
class EngineOfApp:
    """What the session's app runs on, and why."""

    template: ClassVar[str] = "session/runs_on.html"
    name: str
    """`google-adk 2.13.0`; "" as long as the app is not loaded."""
    reason: str
    href: str
    """Where it is changed."""


@dataclass(frozen=True, slots=True)
class TopBar:
    template: ClassVar[str] = "session/topbar.html"
    app: str
    app_href: str
    engine: EngineOfApp
    engine_label: EngineLabel
    apps: tuple[MenuItem, ...]
    title: Title
    sessions: tuple[MenuItem, ...]
    """The newest sessions of this app."""
    delete_action: str
    compare_href: str
    """Where it is chosen what to compare the session with."""
    user: str
    session: int
    session_id: str
    lineage: Lineage
    run: RunStatus
    totals: Totals
    spending: Spending
    note: NoteForm
    export_href: str
    test_href: str
    """Where a test is made of it."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one kind on the scrubber, drawn as one shape."""

    kind: str
    path: str
    """An SVG path, in a picture 1000 wide and 24 high."""


@dataclass(frozen=True, slots=True)
class Ticks:
    """The scrubber's picture of the whole session. Goes into `#ticks`."""

    template: ClassVar[str] = "session/ticks.html"
    count: int
    marks: tuple[Marks, ...]


@dataclass(frozen=True, slots=True)
class EventTip:
    """What is told of the event whose tick is under the pointer. Goes into `#tip`."""

    template: ClassVar[str] = "session/event_tip.html"
    number: int
    kind: str
    word: str
    author: str
    text: str
    changes: tuple[tuple[str, str, str], ...]
    """State keys with their prefix, and old and new in a few characters; "" for nothing."""
    more: int
    """How many keys are not shown."""


@dataclass(frozen=True, slots=True)
class Transport:
    """The bar at the bottom: one event back, one forward, the scrubber, back to now."""

    template: ClassVar[str] = "session/transport.html"
    action: str
    """The session page; the scrubber is a form that asks it for `event`."""
    ticks: Ticks
    selected_number: int | None
    """The event the page is as of; None when it follows the newest."""
    value_text: str
    """The scrubber's value in words, for those who hear it."""
    previous_href: str | None
    next_href: str | None
    live_href: str
    break_action: str
    """Where a breakpoint on events like the selected one is made."""
    hit_hrefs: tuple[str, str | None]
    """The event before at which a breakpoint would have been met, and the one after."""
    cursor: "CursorLinks"


@dataclass(frozen=True, slots=True)
class CursorLinks:
    """Where the whole page can go in time, and where it stands."""

    at: int | None
    """The event that the page is as of; None: it is as it is now."""
    back: str | None
    """As of one event earlier."""
    on: str | None
    gap: float | None
    """Seconds from this event to that one, as they were made."""
    change_back: str | None
    """As of the event before that changed the state."""
    change_on: str | None
