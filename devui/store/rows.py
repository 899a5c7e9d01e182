"""The values that go into and come out of the journal: frozen, and free of SQL.

Times are seconds since the epoch, UTC, as floats. Rows are ordered by `seq`, never by time: it is
one counter for the whole journal, and every change increases it (R47).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from devui.store.summaries import SummarizedRow, Usage

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A value that JSON can represent."""

Scope: TypeAlias = Literal["session", "user", "app"]
"""Who shares a state key: this session only, all of the user's sessions, or all of the app's."""

RunStatus: TypeAlias = Literal["running", "stopping", "done", "failed", "stopped", "interrupted"]
"""The status of a run; the last four are final."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    key: int
    """Opaque and never reused, not even after the session is deleted."""
    app: str
    user: str
    id: str
    title: str | None
    created: float
    updated: float
    """The timestamp of the last event; before the first one, the time of creation."""
    seq: int
    """The seq of the last change: its creation, a new title or an event."""
    events: int
    """The number of events."""
    tokens: int = 0
    """The total of its events' tokens."""


@dataclass(frozen=True, slots=True)
class EventRow(SummarizedRow):
    seq: int
    number: int
    """1 to n within the session, without gaps."""
    session: int
    run: str | None
    id: str
    invocation_id: str
    author: str
    branch: str | None
    timestamp: float
    kind: str
    final: bool
    summary_json: str
    """Stored verbatim; `summary` parses it."""
    chunks: int
    """The number of partial events recorded under this event's id."""
    size: int
    """The size of the event's JSON in UTF-8, in bytes."""
    paused: float = 0.0
    """How long the debugger held the run between the production of the previous event and of this
    one, in seconds; negative if parallel branches were committed in a different order."""
    began: float | None = None
    """When its run started; None without a run, or if the run was deleted."""


@dataclass(frozen=True, slots=True)
class UsageSum:
    """The usage of one model by one author in a session."""

    author: str
    over: int
    """The number of requested limits that each of the prompts exceeds."""
    answers: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Durations:
    """The duration of runs, from start to end."""

    seconds: float | None = None
    """Working time in seconds, excluding the time they were held; None if no run has ended."""
    held: float = 0.0
    """How long they were held, in seconds."""

    def __add__(self, other: "Durations") -> "Durations":
        times = [each.seconds for each in (self, other) if each.seconds is not None]
        return Durations(sum(times) if times else None, self.held + other.held)


class Hold(NamedTuple):
    """A period during which a run was held."""

    since: float
    """The start, in seconds since the epoch."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Sums:
    """The totals of a range of a session's events."""

    events: int
    seconds: float
    """The working time spent on them, in seconds, excluding the time their run was held."""
    held: float
    """How long their run was held, in seconds."""
    tokens: int | None
    """None if no model reported a count."""
    failures: int
    """The number of errors, and of results in which a tool returned an error."""
    usage: tuple[UsageSum, ...]


@dataclass(frozen=True, slots=True)
class InvocationSums:
    """The totals of a contiguous range of an invocation's events."""

    sums: Sums
    """The time of ended runs is measured from their start to their end."""
    message: int | None
    """The number of the user's first event, if any."""


@dataclass(frozen=True, slots=True)
class NewEvent(SummarizedRow):
    id: str
    invocation_id: str
    author: str
    branch: str | None
    timestamp: float
    kind: str
    final: bool
    summary_json: str
    """Stored verbatim; `summary` parses it."""
    data: str
    """The event as JSON text; stored and returned verbatim."""
    state_delta: Mapping[str, Json]
    """Values by key, with the key's prefix; `temp:` keys are refused."""
    tokens: int = 0
    """The model's token count for this event."""
    usage: Usage | None = None
    """The same count by type, if the event holds a model's answer."""
    spans: tuple[int, ...] = ()
    """The numbers, within its run, of the spans that produced it."""
    says: bool = True
    """Whether it has content. A user's event with content is the run's message."""
    rewinds: str | None = None
    """The invocation that the session is rewound to just before, if this event rewinds it."""
    paused: float = 0.0
    """How long the debugger held the run between the production of the previous event and of this
    one, in seconds; negative if parallel branches were committed in a different order."""


@dataclass(frozen=True, slots=True)
class Appended:
    seq: int
    number: int
    duplicate: bool
    """Whether the event was already there; `seq` and `number` are then those of the first time."""
    previous: int = field(default=0, compare=False)
    """The session's seq before this event; a reader who has seen that one has missed nothing."""


@dataclass(frozen=True, slots=True)
class Value:
    scope: Scope
    key: str
    """Without its prefix."""
    value: str
    """JSON text; a key that was set to None is stored as `null`."""
    seq: int
    """The seq of the write."""
    number: int | None
    """The number of the event that wrote it; None for initial state or another session's write."""
    initial: bool = field(default=False, compare=False)
    """Whether it is part of the session's initial state."""


@dataclass(frozen=True, slots=True)
class Change:
    scope: Scope
    key: str
    old: str | None
    """JSON text of the value before the event; None if the key didn't exist."""
    new: str | None


@dataclass(frozen=True, slots=True)
class Write:
    """A single write of a state key. Writes are permanent."""

    seq: int
    value: str
    """JSON text."""
    began: int | None
    """The key of the session whose initial state contains it, if any; for shared state, this can be
    another session than the requested one."""
    event: EventRow | None
    """The event that wrote it, possibly in another session; None for initial state and deleted
    events."""


@dataclass(frozen=True, slots=True)
class RunRow:
    id: str
    session: int
    invocation_id: str | None
    status: RunStatus
    error: str | None
    """JSON text."""
    started: float
    ended: float | None
    seq: int
    """The seq of the run's last change."""
    message: str | None = None
    """The user's message as JSON text, until its event is committed."""
    unfinished: str | None = None
    """The streamed parts of answers that the run's end cut off, as JSON text."""
    closed: int = 0
    """1 if someone has dismissed the question of what to do about the run's end."""
    actor: str | None = None
    """Who started it; None for runs from files, and for those older than this field."""
    stopped_by: str | None = None
    pending: bool = False
    """Whether the run has ended but the journal hasn't recorded that yet."""


@dataclass(frozen=True, slots=True)
class SpanEnd:
    run: str
    number: int
    seconds: float
    first: float | None
    """Seconds until the first part of a model's answer."""
    error: str | None
    result: str | None
    """JSON text."""
    effects: str | None = None
    """What a tool changed, as JSON text."""


@dataclass(frozen=True, slots=True)
class SpanRow:
    id: int
    """Opaque; higher for spans that began later."""
    session: int
    run: str
    number: int
    parent: int | None
    type: str
    name: str
    agent: str
    branch: str | None
    call: str | None
    event: int | None
    """The number of the event that it produced."""
    began: float
    seconds: float | None
    """None while it is running, and if the run ended without reporting its end."""
    first: float | None
    error: str | None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A span with its recorded payloads."""

    span: SpanRow
    sent: Any
    """A tool's arguments, or a model's request with pieces given by name; parsed JSON."""
    result: str | None
    """JSON text."""
    effects: str | None
    """JSON text."""


@dataclass(frozen=True, slots=True)
class ReplayRow:
    run: str
    source: str
    """The recorded run that it replays."""
    live_tools: int
    verdict: str | None
    """JSON text; None until it ends, and if the server ended first."""


@dataclass(frozen=True, slots=True)
class BreakpointRow:
    id: int
    app: str
    version: int
    """1 at first, then one more with each change; hits don't count as changes."""
    enabled: bool
    """Whether it is on for users who haven't switched it themselves."""
    hits: int
    """The number of hits in all runs."""
    data: str
    """JSON text, opaque to the store."""
    actor: str | None = None
    """Who set it, if known."""


@dataclass(frozen=True, slots=True)
class NewEdit:
    """What a person changed at a gate."""

    run: str
    gate: str
    agent: str
    tool: str | None
    call: str | None
    """The id of the function call, if its arguments or result were held."""
    event: str | None
    """The id of the event, if an event was held."""
    action: str
    actor: str
    at: float
    before: str
    """What was held, as JSON text."""
    after: str
    """What the person replaced it with, as JSON text."""
    turn: int | None = None
    """How many runs and calls of the agent had begun in the run."""


@dataclass(frozen=True, slots=True)
class EditRow:
    id: int
    session: int
    edit: NewEdit
    seq: int | None = None
    """Where a dropped event would have been; None for other edits."""


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A person's note on an event, or on a session."""

    session: int
    number: int
    """The number of the event; 0 for the session as a whole."""
    text: str
    """Empty if there is only a star."""
    starred: bool
    actor: str
    """Who changed it last."""
    at: float


@dataclass(frozen=True, slots=True)
class NewTouch:
    """An uncommitted write of state, or a read of one."""

    number: int
    """Within the run."""
    event: str | None
    """The id of the event that carries the write, or that its reader produced."""
    flagged: str | None
    """The id of the event whose commit revealed that no event carries the write."""
    data: str
    """JSON text, opaque to the store."""


@dataclass(frozen=True, slots=True)
class TouchRow:
    run: str
    number: int
    session: int
    data: str
    event: int | None
    """The number of that event; None until it is committed."""
    flagged: int | None


@dataclass(frozen=True, slots=True)
class OutputLine:
    stream: str
    """Where it came from: "stdout", "stderr", the name of a logger, …"""
    text: str
    at: float


@dataclass(frozen=True, slots=True)
class ArtifactRow:
    name: str
    """Includes the `user:` prefix, if any."""
    version: int
    """Counted from 0."""
    mime: str | None
    size: int
    """The size of the data, or of the text in UTF-8, in bytes."""
    custom_metadata: str | None
    """JSON text."""
    created: float
    seq: int


@dataclass(frozen=True, slots=True)
class ArtifactFile:
    """A named file, with its newest version and the number of versions."""

    newest: ArtifactRow
    versions: int


@dataclass(frozen=True, slots=True)
class Artifact:
    row: ArtifactRow
    data: bytes | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Rewind:
    """An event that rewinds the session."""

    number: int
    """The event's own number."""
    first: int
    """The first event that it takes back, along with all others up to itself."""


@dataclass(frozen=True, slots=True)
class NewFork:
    """A request to fork a session."""

    number: int
    """The last event to copy; 0 for none."""
    id: str
    """The id of the new session."""
    reason: str
    """What was changed, in one word; `event` if the next event replaces the parent's."""
    note: str | None = None
    actor: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class ForkRow:
    session: int
    """The key of the fork."""
    parent: int
    """The key of the session it was forked from, which may have been deleted since."""
    number: int
    """The last event copied from the parent."""
    reason: str
    note: str | None
    invocation: str | None
    """The invocation that the fork cut in two, until someone resumes or closes it."""
    created: float
    actor: str | None = None
    """Who made it, if known."""

    @property
    def at(self) -> int:
        """The parent's event at which it was forked: the last one copied or, if an event was
        edited, that event."""
        return self.number + 1 if self.reason == "event" else self.number
