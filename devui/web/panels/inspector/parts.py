"""The inspector: one event in full, the state as of it, its JSON, the log of its run."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from devui.web.basic_parts import Fact, Failure, JsonText, JsonTree, Moment
from devui.web.panels.artifacts.parts import ArtifactsPanel
from devui.web.panels.breakpoints.parts import BreakpointsPanel, LikeThis
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
    """Makes a tab, or the trace, if it is open, ask for itself anew: what is typed in it stays.

    Its element is `#{tab}-ask`, that of the tab `#{tab}`.
    """

    template: ClassVar[str] = "inspector/tab_ask.html"
    tab: Literal["standing", "trace", "graph", "files", "request"]
    href: str
    fields: str = ""
    """The element whose fields say what the tab shows."""
    inside: str = ""
    """The element whose content is the answer; "" if the answer is the tab's element."""


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
class MoreLink:
    """Leads to what is not shown."""

    text: str
    """`Show 9,900 more keys`."""
    href: str


@dataclass(frozen=True, slots=True)
class StateScope:
    label: str
    """`session`, `user:`, `app:`, `temp:`."""
    note: str
    """Who shares these values and how long they live."""
    values: tuple[StateValue, ...]
    more: MoreLink | None = None


@dataclass(frozen=True, slots=True)
class StateKeys:
    """Some keys of one scope; the link below them brings the next ones."""

    template: ClassVar[str] = "inspector/state_keys.html"
    values: tuple[StateValue, ...]
    more: MoreLink | None


@dataclass(frozen=True, slots=True)
class PendingGroup:
    """What one agent, callback or tool wrote and no committed event carries."""

    by: str
    label: str
    """`pending from planner: 2 keys`."""
    values: tuple[StateValue, ...]
    is_lost: bool = False
    """The run is over: it will never be committed."""


@dataclass(frozen=True, slots=True)
class StatePanel:
    """All state, by scope.

    Its element is `#state-live` when it follows the newest event, else `#state-at`.
    """

    template: ClassVar[str] = "inspector/state_panel.html"
    number: int | None
    """The event the state is as of; None for now."""
    scopes: tuple[StateScope, ...]
    changed: int
    """How many keys the selected event changed."""
    pending: tuple[PendingGroup, ...] = ()
    """What is written and not committed, or was lost."""


@dataclass(frozen=True, slots=True)
class ChangedPlace:
    """One place in a value; None where there is nothing."""

    path: str
    old: JsonTree | None
    new: JsonTree | None


@dataclass(frozen=True, slots=True)
class ChangedKey:
    """A key whose value is another one."""

    key: str
    """With its prefix."""
    mark: Mark
    by: str
    """Who wrote what it is now: `#11`, `start`, `elsewhere`."""
    href: str | None
    places: tuple[ChangedPlace, ...]
    more: str
    """How many places are not shown, in words."""


@dataclass(frozen=True, slots=True)
class StateDiff:
    """What differs in the state between two moments, the earlier one first."""

    template: ClassVar[str] = "inspector/state_diff.html"
    first: str
    """`#4`, `before the first event`."""
    last: str
    """`#11`, `now`."""
    hint: str
    """Which of the two stays, and what to do about the other one."""
    keys: tuple[ChangedKey, ...]


@dataclass(frozen=True, slots=True)
class StateWith:
    """With which other moment the state is to be compared."""

    action: str
    event: int | None
    """The event that the tab shows; None for now."""
    at: int | None
    """The event that the whole page is as of."""
    since: int | None
    """The event that is marked; 0: before the first."""
    mark_href: str
    """The same with the tab's event marked; "" for now, and for the one that is."""
    unmark_href: str


@dataclass(frozen=True, slots=True)
class StateTab:
    """The state, or what differs in it; above it who wrote the key that is pinned. Goes into
    `#panel`."""

    template: ClassVar[str] = "inspector/state_tab.html"
    state: StatePanel | StateDiff
    compare: StateWith
    edit: StateForm | None = None
    new_href: str = ""
    """The form for a new key; "" where the state can't be edited."""
    history: KeyHistory | None = None


@dataclass(frozen=True, slots=True)
class ArtifactLink:
    name: str
    version: int
    href: str


@dataclass(frozen=True, slots=True)
class Chunks:
    """The partial events an answer arrived in."""

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
    """`is_final_response()`, of each answer and not just of the invocation's last; None for a
    user's event, of which it says nothing."""
    partial: bool
    error: Fact | None
    """Code as label, message as value."""
    parts: tuple[ContentPart, ...]
    changes: tuple[StateValue, ...]
    """What the event did to the state, old and new."""
    more_changes: MoreLink | None
    artifacts: tuple[ArtifactLink, ...]
    actions: tuple[Fact, ...]
    """The other actions: transfer, escalate, requested confirmations…"""
    model: tuple[Fact, ...]
    """Tokens, finish reason, model version."""
    identity: tuple[Fact, ...]
    """Invocation, branch, id, run, size."""
    note: NoteForm
    like: LikeThis | None
    fork: ForkForm | None
    """None of both in a file."""
    chunks: Chunks | None
    raw: JsonText
    edits: EventEdits | None = None
    """What people did on the way to it."""
    notes: EventNotes | None = None
    """What was noticed of the state."""
    failure: Failure | None = None
    """In place of `error`, with its place in the code and its traceback."""
    rewind: RewindMark | None = None
    answer_href: str = ""
    """The answer of the model, if the event says something else."""
    whole: str = ""
    """Where all of it is, if it has texts of which only the beginning is shown."""


@dataclass(frozen=True, slots=True)
class RawPanel:
    template: ClassVar[str] = "inspector/raw_panel.html"
    number: int
    text: JsonText
    edits: EventEdits | None = None


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line that the agent printed or logged. The element's id is `l-{number}`."""

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
    """Whether more lines may come."""
    ask_href: str
    """Where it is as it is now."""
    left_out: str = ""
    """How many lines before these are not shown, in words."""
    href: str | None = None
    """The whole log as text; None while there is nothing in it."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What an empty inspector says."""

    template: ClassVar[str] = "inspector/hint.html"
    title: str
    text: str
    ask: str = ""
    """The id of what asks for the tab anew, if it may have more to show later."""


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
    """The tabs and what the chosen one shows. Goes into `#inspector`."""

    template: ClassVar[str] = "inspector/inspector.html"
    tab: TabKey
    tabs: tuple[Tab, ...]
    panel: Panel
    sticky: bool
    """An event is selected: choosing another row keeps the tab; narrow pages open the drawer."""
    hits: int | None = None
    """The breakpoint whose past is shown, kept in the same way."""
    at: int | None = None
    """The event that the whole page is as of, kept, too."""
    pin: PinBar | None = None
    since: int | None = None
    """The event whose state others' are compared with, kept, too."""
    """The state key whose history is shown, kept, too."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The answer to choosing a row, a tab or a view: the inspector, and along with it the transport
    bar, the watched keys, and the trace if it is shown."""

    template: ClassVar[str] = "inspector/selection.html"
    inspector: Inspector
    transport: Transport
    watch_strip: WatchStrip
    switch: ViewSwitch
    trace: TracePanel | None
