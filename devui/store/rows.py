"""What the journal hands out and takes: frozen values, free of SQL.

Times are seconds since the epoch, UTC, as float; they order nothing. `seq` does: one counter for
the whole journal, raised by every change (R47).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from devui.store.summaries import Summarised, Usage

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A value that JSON can hold."""

Scope: TypeAlias = Literal["session", "user", "app"]
"""Who shares a state key: this session, all of the user's, or all of the application's."""

RunStatus: TypeAlias = Literal["running", "stopping", "done", "failed", "stopped", "interrupted"]
"""Where a run stands; the last four are final."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    key: int
    """Opaque and never reused, also not after the session was deleted."""
    app: str
    user: str
    id: str
    title: str | None
    created: float
    updated: float
    """Timestamp of the last event; the time of creation while there is none."""
    seq: int
    """Of the last change: creation, a new title or an event."""
    events: int
    """How many events the session holds."""
    tokens: int = 0
    """The sum of its events' tokens."""


@dataclass(frozen=True, slots=True)
class EventRow(Summarised):
    seq: int
    number: int
    """1..n within the session, without gaps."""
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
    """Stored as it is; `summary` parses it."""
    chunks: int
    """How many partial chunks are recorded under this event's id."""
    size: int
    """Bytes of the event's JSON in UTF-8."""
    paused: float = 0.0
    """Seconds that the debugger held its run since the event before was produced, until this one
    was; less than none where parallel branches were committed in another order."""


@dataclass(frozen=True, slots=True)
class UsageSum:
    """The usage of one author and one model in a session."""

    author: str
    over: int
    """How many of the limits that were asked for each of the prompts exceeds."""
    answers: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Durations:
    """What runs took, from their start to their end."""

    seconds: float | None = None
    """At work, without the time in which they were held; None if none has ended."""
    held: float = 0.0
    """Seconds in which they were held."""

    def __add__(self, other: "Durations") -> "Durations":
        """Both together."""
        times = [each.seconds for each in (self, other) if each.seconds is not None]
        return Durations(sum(times) if times else None, self.held + other.held)


class Hold(NamedTuple):
    """A period in which a run was held."""

    since: float
    """Seconds since the epoch."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Sums:
    """What some events of a session, one after the other, came to."""

    events: int
    seconds: float
    """At work for them, without the time in which their run was held."""
    held: float
    """Seconds in which their run was held."""
    tokens: int | None
    """None if no model counted any."""
    failures: int
    """How many of them are errors, or have a tool's error as a result."""
    usage: tuple[UsageSum, ...]


@dataclass(frozen=True, slots=True)
class InvocationSums:
    """What an invocation came to: its events that follow each other without another's between."""

    sums: Sums
    """The time before its first event isn't in them."""
    message: int | None
    """The number of the user's first event; None without."""


@dataclass(frozen=True, slots=True)
class NewEvent(Summarised):
    id: str
    invocation_id: str
    author: str
    branch: str | None
    timestamp: float
    kind: str
    final: bool
    summary_json: str
    """Stored as it is; `summary` parses it."""
    data: str
    """The event as JSON text; kept and returned to the letter."""
    state_delta: Mapping[str, Json]
    """Keys with their prefixes; `temp:` keys are refused."""
    tokens: int = 0
    """What the model counted for this event."""
    usage: Usage | None = None
    """The same in parts, if it holds a model's answer."""
    spans: tuple[int, ...] = ()
    """The numbers of the spans of its run that it came of."""
    says: bool = True
    """It has content: of the user's, it is what the user has said."""
    rewinds: str | None = None
    """The invocation before which it takes the session back."""
    paused: float = 0.0
    """Seconds that the debugger held its run since the event before was produced, until this one
    was; less than none where parallel branches were committed in another order."""


@dataclass(frozen=True, slots=True)
class Appended:
    seq: int
    number: int
    duplicate: bool
    """The event was already there; seq and number are those of the first time."""
    previous: int = field(default=0, compare=False)
    """The session's seq before; whoever knows the session as of it misses nothing in between."""


@dataclass(frozen=True, slots=True)
class Value:
    scope: Scope
    key: str
    """Without its prefix."""
    value: str
    """JSON text; a key that was set to None is kept as `null`."""
    seq: int
    """Of the write."""
    number: int | None
    """Of the writing event in this session; None: initial state, or another session wrote it."""
    initial: bool = field(default=False, compare=False)
    """The session began with it."""


@dataclass(frozen=True, slots=True)
class Change:
    scope: Scope
    key: str
    old: str | None
    """JSON text before the event; None: the key was absent."""
    new: str | None


@dataclass(frozen=True, slots=True)
class Write:
    """One write of one key, for ever."""

    seq: int
    value: str
    """JSON text."""
    began: int | None
    """The key of the session that began with it, perhaps another one than was asked about."""
    event: EventRow | None
    """The event that wrote it, perhaps of another session; None: there is none, or none any more.
    """


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
    """Of the last change of this run."""
    message: str | None = None
    """What the user said, as JSON text, until the event that holds it is committed."""
    unfinished: str | None = None
    """What agents had streamed of answers that the run's end cut off, as JSON text."""
    closed: int = 0
    """1: nobody wants to be asked about its end any more."""
    actor: str | None = None
    """Who started it; None for one from before that was stored, or from a file."""
    stopped_by: str | None = None
    pending: bool = False
    """It is over, and the journal has not taken that yet."""


@dataclass(frozen=True, slots=True)
class SpanEnd:
    run: str
    number: int
    seconds: float
    first: float | None
    """Seconds to the first piece of a model's answer."""
    error: str | None
    result: str | None
    """JSON text."""
    effects: str | None = None
    """JSON text of what a tool changed."""


@dataclass(frozen=True, slots=True)
class SpanRow:
    id: int
    """Opaque; spans that began later have a higher one."""
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
    """The number of the event that came of it."""
    began: float
    seconds: float | None
    """None while it goes on, and if the run ended without a word of it."""
    first: float | None
    error: str | None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A span with all that is kept of it, as JSON texts but for what was sent."""

    span: SpanRow
    sent: Any
    """A tool's arguments; of a model call the request, by the names of its pieces."""
    result: str | None
    effects: str | None


@dataclass(frozen=True, slots=True)
class ReplayRow:
    run: str
    source: str
    """The recorded run that it executes again."""
    live_tools: int
    verdict: str | None
    """JSON text; None while it goes on, and if the server ended before it."""


@dataclass(frozen=True, slots=True)
class BreakpointRow:
    id: int
    app: str
    version: int
    """1, and one more with every change; hits are none."""
    enabled: bool
    """For everybody who has not switched it for himself."""
    hits: int
    """How often it was met, in all runs."""
    data: str
    """JSON text, opaque to the store."""
    actor: str | None = None
    """Who set it, if known."""


@dataclass(frozen=True, slots=True)
class NewEdit:
    """What a person did to what was held at a gate."""

    run: str
    gate: str
    agent: str
    tool: str | None
    call: str | None
    """The id of the function call, where it was one's arguments or result."""
    event: str | None
    """The id of the event, where it was one."""
    action: str
    actor: str
    at: float
    before: str
    """JSON text of what was held."""
    after: str
    """JSON text of what the person gave."""
    turn: int | None = None
    """How many runs and calls of the agent had begun in the run."""


@dataclass(frozen=True, slots=True)
class EditRow:
    id: int
    session: int
    edit: NewEdit
    seq: int | None = None
    """Of a dropped event: where it would have been; else None."""


@dataclass(frozen=True, slots=True)
class NoteRow:
    """What a person says about an event, or about a session."""

    session: int
    number: int
    """Of the event; 0: the session as a whole."""
    text: str
    """"": only the star is set."""
    starred: bool
    actor: str
    """Who changed it last."""
    at: float


@dataclass(frozen=True, slots=True)
class NewTouch:
    """A write of state before its commit, or a read of one."""

    number: int
    """Within the run."""
    event: str | None
    """The id of the event that carries the write, or that its reader made."""
    flagged: str | None
    """The id of the event at whose commit it was found that none carries it."""
    data: str
    """JSON text, opaque to the store."""


@dataclass(frozen=True, slots=True)
class TouchRow:
    run: str
    number: int
    session: int
    data: str
    event: int | None
    """The number of that event; None as long as it is not committed."""
    flagged: int | None


@dataclass(frozen=True, slots=True)
class OutputLine:
    stream: str
    """Where it came from: "stdout", "stderr", a logger's name, …"""
    text: str
    at: float


@dataclass(frozen=True, slots=True)
class ArtifactRow:
    name: str
    """With its `user:` prefix, where it has one."""
    version: int
    """From 0."""
    mime: str | None
    size: int
    """Bytes of the data, or of the text in UTF-8."""
    custom_metadata: str | None
    """JSON text."""
    created: float
    seq: int


@dataclass(frozen=True, slots=True)
class ArtifactFile:
    """A named file: its newest version, and how many there are."""

    newest: ArtifactRow
    versions: int


@dataclass(frozen=True, slots=True)
class Artifact:
    row: ArtifactRow
    data: bytes | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Rewind:
    """An event that takes the session back."""

    number: int
    """Its own."""
    first: int
    """The first event that it takes back; all up to itself are."""


@dataclass(frozen=True, slots=True)
class NewFork:
    """Where a session is to be forked, and how the fork is called."""

    number: int
    """The last event that the fork begins with; 0: none."""
    id: str
    """The id of the new session."""
    reason: str
    """What was changed, in a word; `event`: the first event behind it replaces the parent's."""
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
    """The parent's last event that the fork began with."""
    reason: str
    note: str | None
    invocation: str | None
    """The invocation that the fork cut through and that nobody has resumed or closed yet."""
    created: float
    actor: str | None = None
    """Who made it, if known."""

    @property
    def at(self) -> int:
        """The event of the parent at which it was made: its last one, or the one that was edited in
        its place."""
        return self.number + 1 if self.reason == "event" else self.number
