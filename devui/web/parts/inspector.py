"""The inspector: one event in full, the state as of it, its JSON, the log of its run."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from devui.web.parts.basics import Fact, Moment
from devui.web.parts.breakpoints import BreaksPanel, LikeThis
from devui.web.parts.content import ContentPart
from devui.web.parts.json import JsonText, JsonTree
from devui.web.parts.session import Transport

TabKey = Literal["event", "state", "raw", "log", "breaks"]
Mark = Literal["same", "new", "changed", "removed"]


@dataclass(frozen=True, slots=True)
class Tab:
    key: TabKey
    label: str
    href: str
    current: bool
    shortcut: str
    count: str = ""
    """How many there are; "" for a tab that counts nothing."""


@dataclass(frozen=True, slots=True)
class StateValue:
    """One key of the state.

    `value` is None after a removal, `old` is None unless the selected event replaced it.
    """

    key: str
    dom_id: str
    mark: Mark
    value: JsonTree | None
    old: JsonTree | None
    by: str
    """Who wrote it: `#11`, `start`, `elsewhere`."""
    href: str | None
    """The event that wrote it."""


@dataclass(frozen=True, slots=True)
class StateScope:
    label: str
    """`session`, `user:`, `app:`, `temp:`."""
    note: str
    """Who shares these values and how long they live."""
    values: tuple[StateValue, ...]


@dataclass(frozen=True, slots=True)
class StatePanel:
    """All state, by scope.

    Its element is `#state-live` when it follows the newest event, else `#state-at`.
    """

    template: ClassVar[str] = "parts/state_panel.html"
    number: int | None
    """The event the state is as of; None for now."""
    scopes: tuple[StateScope, ...]
    changed: int
    """How many keys the selected event changed."""
    pending: tuple[StateValue, ...] = ()
    """What is written and not committed: what held events will change."""


@dataclass(frozen=True, slots=True)
class ArtifactLink:
    name: str
    version: int
    href: str


@dataclass(frozen=True, slots=True)
class Chunks:
    """The partial events an answer arrived in."""

    count: int
    shown: tuple[str, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class EventDetail:
    template: ClassVar[str] = "parts/event_detail.html"
    number: int
    kind: str
    word: str
    shape: str
    author: str
    moment: Moment
    final: bool
    partial: bool
    error: Fact | None
    """Code as label, message as value."""
    parts: tuple[ContentPart, ...]
    changes: tuple[StateValue, ...]
    """What the event did to the state, old and new."""
    artifacts: tuple[ArtifactLink, ...]
    actions: tuple[Fact, ...]
    """The other actions: transfer, escalate, requested confirmations…"""
    model: tuple[Fact, ...]
    """Tokens, finish reason, model version."""
    identity: tuple[Fact, ...]
    """Invocation, branch, id, run, size."""
    like: LikeThis
    chunks: Chunks | None
    raw: JsonText


@dataclass(frozen=True, slots=True)
class RawPanel:
    template: ClassVar[str] = "parts/raw_panel.html"
    number: int
    text: JsonText


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line that the agent printed or logged. The element's id is `l-{number}`."""

    template: ClassVar[str] = "parts/log_line.html"
    number: int
    stream: str
    """`stdout`, `stderr` or a logger's name."""
    text: str
    clock: str


@dataclass(frozen=True, slots=True)
class LogPanel:
    """The output of one run; new lines are appended to `#log-live` while it is the newest."""

    template: ClassVar[str] = "parts/log_panel.html"
    run: str | None
    lines: tuple[LogLine, ...]
    live: bool
    """Whether more lines may come."""
    left_out: str = ""
    """How many lines before these are not shown, in words."""
    href: str | None = None
    """The whole log as text; None while there is nothing in it."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What an empty inspector says."""

    template: ClassVar[str] = "parts/hint.html"
    title: str
    text: str


Panel: TypeAlias = EventDetail | StatePanel | RawPanel | LogPanel | BreaksPanel | Hint


@dataclass(frozen=True, slots=True)
class Inspector:
    """The tabs and what the chosen one shows. Goes into `#inspector`."""

    template: ClassVar[str] = "parts/inspector.html"
    tab: TabKey
    tabs: tuple[Tab, ...]
    panel: Panel
    sticky: bool
    """An event is selected: choosing another row keeps the tab; narrow pages open the drawer."""
    hits: int | None = None
    """The breakpoint whose past is shown, kept in the same way."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The answer to choosing a row or a tab: the inspector, and the transport bar along with it."""

    template: ClassVar[str] = "parts/selection.html"
    inspector: Inspector
    transport: Transport
