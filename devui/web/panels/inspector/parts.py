"""The parts of the inspector: one event in full, the state as of it, its JSON, its run's log."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from devui.web.basic_parts import Fact, Failure, JsonText, JsonTree, Moment
from devui.web.panels.artifacts.parts import ArtifactsPanel
from devui.web.panels.breakpoints.parts import BreakpointsPanel, SimilarEvents
from devui.web.panels.chat.content_parts import ContentPart
from devui.web.panels.graph.parts import GraphPanel
from devui.web.panels.inspector.mark_parts import EventEdits, EventNotes, RewindMark
from devui.web.panels.notes.parts import NoteForm
from devui.web.panels.recovery.parts import ForkForm
from devui.web.panels.request.parts import RequestPanel, ToolCallsPanel
from devui.web.panels.runs.parts import RunPanel
from devui.web.panels.session.parts import Transport
from devui.web.panels.state.parts import KeyHistory, Mark, PinBar, StateForm, StateValue
from devui.web.panels.trace.parts import TracePanel, ViewSwitch
from devui.web.panels.watch.parts import WatchStrip

TabKey = Literal["event", "state", "raw", "log", "breaks", "run", "request", "graph", "artifacts"]


@dataclass(frozen=True, slots=True)
class TabAsk:
    """Makes an open tab, or the open trace, reload itself; text typed into it is kept.

    Its element is `#{tab}-ask`, the tab's is `#{tab}`.
    """

    template: ClassVar[str] = "inspector/tab_ask.html"
    tab: Literal["activity", "trace", "graph", "files", "request"]
    href: str
    fields: str = ""
    """The element whose fields are sent along; they say what the tab shows."""
    inside: str = ""
    """The element whose content is replaced with the response; "" to replace the tab's element."""


@dataclass(frozen=True, slots=True)
class Tab:
    key: TabKey
    label: str
    href: str
    current: bool
    shortcut: str
    count: str = ""
    """The number of items; "" if the tab has no count."""


@dataclass(frozen=True, slots=True)
class MoreLink:
    """A link to what isn't shown."""

    text: str
    """`Show 9,900 more keys`."""
    href: str


@dataclass(frozen=True, slots=True)
class StateScope:
    label: str
    """`session`, `user:`, `app:`, `temp:`."""
    note: str
    """Who shares these values, and how long they last."""
    values: tuple[StateValue, ...]
    more: MoreLink | None = None


@dataclass(frozen=True, slots=True)
class StateKeys:
    """Some keys of one scope; the link below them loads the next ones."""

    template: ClassVar[str] = "inspector/state_keys.html"
    values: tuple[StateValue, ...]
    more: MoreLink | None


@dataclass(frozen=True, slots=True)
class PendingGroup:
    """What one agent, callback or tool wrote that isn't in any committed event."""

    by: str
    label: str
    """`pending from planner: 2 keys`, or `Lost: 2 keys written by planner.`"""
    values: tuple[StateValue, ...]
    is_lost: bool = False
    """Whether the run has ended, so that this will never be committed."""


@dataclass(frozen=True, slots=True)
class StatePanel:
    """All state, by scope.

    Its element is `#state-live` if it follows the newest event, else `#state-at`.
    """

    template: ClassVar[str] = "inspector/state_panel.html"
    number: int | None
    """The event as of which the state is shown; None for now."""
    scopes: tuple[StateScope, ...]
    changed: int
    """How many keys the selected event changed."""
    pending: tuple[PendingGroup, ...] = ()
    """Uncommitted writes, and those that were lost."""


@dataclass(frozen=True, slots=True)
class ChangedPlace:
    """One changed place in a value; None means that there is no value."""

    path: str
    old: JsonTree | None
    new: JsonTree | None


@dataclass(frozen=True, slots=True)
class ChangedKey:
    """A state key whose value differs."""

    key: str
    """The key, including its prefix."""
    mark: Mark
    by: str
    """Where the newer value was written: `#11`, `start`, `elsewhere`."""
    href: str | None
    places: tuple[ChangedPlace, ...]
    more: str
    """How many places aren't shown, in words."""


@dataclass(frozen=True, slots=True)
class StateDiff:
    """The differences in the state between two moments, the earlier one first."""

    template: ClassVar[str] = "inspector/state_diff.html"
    first: str
    """`#4`, `before the first event`."""
    last: str
    """`#11`, `now`."""
    hint: str
    """Which of the two moments is fixed, and how to change the other."""
    keys: tuple[ChangedKey, ...]


@dataclass(frozen=True, slots=True)
class StateComparison:
    """The form that chooses another moment to compare the state with."""

    action: str
    event: int | None
    """The event as of which the tab shows the state; None for now."""
    at: int | None
    """The event that the whole page is shown as of."""
    since: int | None
    """The marked event; 0 for the moment before the first."""
    mark_href: str
    """The link that marks the tab's event; "" if it shows the present or the marked event
    itself."""
    unmark_href: str


@dataclass(frozen=True, slots=True)
class StateTab:
    """The state, or its differences, and the history of the pinned key. Goes into `#panel`."""

    template: ClassVar[str] = "inspector/state_tab.html"
    state: StatePanel | StateDiff
    compare: StateComparison
    edit: StateForm | None = None
    new_href: str = ""
    """The link to the form for a new key; "" if the state can't be edited."""
    history: KeyHistory | None = None


@dataclass(frozen=True, slots=True)
class ArtifactLink:
    """A file that the event saved."""

    name: str
    version: int
    href: str
    mime: str = ""
    """"" if the version has been deleted."""
    size: str = ""
    opens: bool = True
    """Whether a browser opens it, and doesn't only download it."""
    tab_href: str = ""
    """Its address in Files."""


@dataclass(frozen=True, slots=True)
class Chunks:
    """The partial events in which an answer arrived."""

    count: int
    texts: tuple[str, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class EventDetail:
    template: ClassVar[str] = "inspector/event_detail.html"
    number: int
    kind: str
    word: str
    shape: str
    author: str
    moment: Moment
    final: bool | None
    """ADK's `is_final_response()`, which is true for each answer and not just an invocation's last;
    None for a user's event, to which it doesn't apply."""
    partial: bool
    error: Fact | None
    """The error code as label, the message as value."""
    parts: tuple[ContentPart, ...]
    changes: tuple[StateValue, ...]
    """The state changes of the event, with old and new values."""
    artifacts: tuple[ArtifactLink, ...]
    actions: tuple[Fact, ...]
    """The other actions: transfer, escalate, confirmation requests, …"""
    model: tuple[Fact, ...]
    """Tokens, finish reason, model version."""
    identity: tuple[Fact, ...]
    """Id, invocation, run, long-running calls, role, size."""
    place: tuple[Fact, ...]
    """Branch, node and output of the event, if it has them."""
    note: NoteForm
    like: SimilarEvents | None
    fork: ForkForm | None
    """`like` and `fork` are None in an exported file."""
    edit_href: str
    """The link to that form with the event's fields open; "" if the event can't be edited."""
    try_href: str
    """The page that tries its only call, or the call of its only result; "" if it has none or
    several, which then have their own links."""
    chunks: Chunks | None
    raw: JsonText
    edits: EventEdits | None = None
    """The edits made before it was committed."""
    notes: EventNotes | None = None
    """What was noticed about the state."""
    more_changes: MoreLink | None = None
    """The link to the state changes that are left out."""
    failure: Failure | None = None
    """Shown instead of `error`, with the location in the code and the traceback."""
    rewind: RewindMark | None = None
    answer_href: str = ""
    """The link to the model's response, if the event differs from it."""
    whole: str = ""
    """The URL of the whole event, if it may have texts that are shown only in part."""


@dataclass(frozen=True, slots=True)
class RawPanel:
    template: ClassVar[str] = "inspector/raw_panel.html"
    number: int
    text: JsonText
    edits: EventEdits | None = None


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of an agent's output. The element's id is `l-{number}`."""

    template: ClassVar[str] = "inspector/log_line.html"
    number: int
    stream: str
    """`stdout`, `stderr` or a logger's name."""
    text: str
    clock: str


@dataclass(frozen=True, slots=True)
class LogPanel:
    """The output of one run; new lines are appended to `#log-live` while it is the newest."""

    template: ClassVar[str] = "inspector/log_panel.html"
    run: str | None
    lines: tuple[LogLine, ...]
    live: bool
    """Whether more lines may follow."""
    ask_href: str
    """The URL that reloads the panel."""
    left_out: str = ""
    """How many earlier lines aren't shown, in words."""
    href: str | None = None
    """The URL of the whole log as text; None if it is empty."""


@dataclass(frozen=True, slots=True)
class Hint:
    """The message of an empty inspector."""

    template: ClassVar[str] = "inspector/hint.html"
    title: str
    text: str
    ask: str = ""
    """The id of the element that reloads the tab, if it may have more to show later."""


Panel: TypeAlias = (
    EventDetail
    | StateTab
    | RawPanel
    | LogPanel
    | BreakpointsPanel
    | RunPanel
    | RequestPanel
    | ToolCallsPanel
    | GraphPanel
    | ArtifactsPanel
    | Hint
)


@dataclass(frozen=True, slots=True)
class Inspector:
    """The tabs and the panel of the current one. Goes into `#inspector`."""

    template: ClassVar[str] = "inspector/inspector.html"
    tab: TabKey
    tabs: tuple[Tab, ...]
    panel: Panel
    sticky: bool
    """Whether an event is selected: then choosing another row keeps the tab, and narrow pages open
    the drawer."""
    hits: int | None = None
    """The breakpoint whose past hits are shown; kept in the same way."""
    at: int | None = None
    """The event that the whole page is shown as of; kept, too."""
    pin: PinBar | None = None
    """The state key whose history is shown; kept, too."""
    since: int | None = None
    """The event whose state is compared with; kept, too."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The response to choosing a row, a tab or a view: the inspector, the transport bar, the
    watched keys, and the trace if it is shown."""

    template: ClassVar[str] = "inspector/selection.html"
    inspector: Inspector
    transport: Transport
    watch_strip: WatchStrip
    switch: ViewSwitch
    trace: TracePanel | None
