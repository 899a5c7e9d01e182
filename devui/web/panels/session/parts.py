"""The parts around a session's panes: top bar, run, totals, transport bar."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.basic_parts import Moment, RunStatus
from devui.web.panels.notes.parts import NoteForm
from devui.web.panels.recovery.parts import Lineage
from devui.web.panels.tags.parts import TagForm, TitleTags
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
    """The stream of everything that happens after the page was rendered. Element id: `stream`."""

    template: ClassVar[str] = "session/page_stream.html"
    href: str


@dataclass(frozen=True, slots=True)
class Totals:
    """Figures of the whole session. Goes into `#totals`; a dash for unknown."""

    template: ClassVar[str] = "session/totals.html"
    events: str
    tokens: str
    cost: str
    """`$0.42`; with `+` if part of it is unknown."""
    seconds: str
    """Working time of the runs, in seconds."""
    held_note: str = ""
    """A note about the time for which the runs were held; "" if they weren't."""


@dataclass(frozen=True, slots=True)
class Title:
    """The session's name, renamed in place. Goes into `#title`."""

    template: ClassVar[str] = "session/title.html"
    key: int
    """Its number, which people and terminal commands use."""
    title: str
    """The developer's title for it, or ""."""
    fallback: str
    """The name shown without a title."""
    action: str


@dataclass(frozen=True, slots=True)
class EngineLabel:
    """The engine in one word, beside the app's name."""

    template: ClassVar[str] = "session/engine_label.html"
    name: str


@dataclass(frozen=True, slots=True)
class EngineOfApp:
    """The engine that the session's app runs on, and why."""

    template: ClassVar[str] = "session/runs_on.html"
    name: str
    """`google-adk 2.13.0`; "" until the app is loaded."""
    reason: str
    href: str
    """Where to change the engine."""


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
    """Where to choose a session to compare with."""
    user: str
    session: int
    session_id: str
    lineage: Lineage
    run: RunStatus
    totals: Totals
    spending: Spending
    tags: TitleTags
    tag_form: TagForm
    note: NoteForm
    export_href: str
    test_href: str
    """Where to make a test from the session."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one kind on the scrubber, drawn as one shape."""

    kind: str
    path: str
    """An SVG path, in a picture 1000 wide and 24 high."""
    are_matches: bool = True
    """Whether they match the filter; True without one."""


@dataclass(frozen=True, slots=True)
class Ticks:
    """The scrubber's picture of the whole session. Goes into `#ticks`."""

    template: ClassVar[str] = "session/ticks.html"
    count: int
    marks: tuple[Marks, ...]


@dataclass(frozen=True, slots=True)
class EventTip:
    """A summary of the event whose tick is under the pointer. Goes into `#tip`."""

    template: ClassVar[str] = "session/event_tip.html"
    number: int
    kind: str
    word: str
    author: str
    text: str
    changes: tuple[tuple[str, str, str], ...]
    """State keys with their prefix, and the old and new value, abbreviated; "" for no value."""
    more: int
    """The number of keys left out."""


@dataclass(frozen=True, slots=True)
class Transport:
    """The bar at the bottom: one event back, one forward, the scrubber, back to now."""

    template: ClassVar[str] = "session/transport.html"
    action: str
    """The session page; the scrubber is a form that requests it with `event`."""
    ticks: Ticks
    selected_number: int | None
    """The selected event; None while the page follows the newest."""
    value_text: str
    """The scrubber's value in words, for screen readers."""
    previous_href: str | None
    next_href: str | None
    live_href: str
    break_action: str
    """Where to create a breakpoint on events like the selected one."""
    hit_hrefs: tuple[str, str | None]
    """The nearest earlier and later event at which a breakpoint would have hit."""
    cursor: "CursorLinks"


@dataclass(frozen=True, slots=True)
class CursorLinks:
    """Links that move the whole page in time, and the event that it is shown as of."""

    at: int | None
    """The event that the page is shown as of; None for the present."""
    back: str | None
    """The page as of one event earlier."""
    on: str | None
    gap: float | None
    """Seconds between this event and the next, when they happened."""
    change_back: str | None
    """The page as of the previous event that changed the state."""
    change_on: str | None
