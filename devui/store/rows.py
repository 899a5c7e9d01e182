"""What the journal hands out and takes: frozen values, free of SQL.

Times are seconds since the epoch, UTC, as float; they order nothing. `seq` does: one counter for
the whole journal, raised by every change (R47).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

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
class EventRow:
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
    summary: str
    """JSON text, opaque to the store."""
    chunks: int
    """How many partial chunks are recorded under this event's id."""
    size: int
    """Bytes of the event's JSON in UTF-8."""


@dataclass(frozen=True, slots=True)
class NewEvent:
    id: str
    invocation_id: str
    author: str
    branch: str | None
    timestamp: float
    kind: str
    final: bool
    summary: str
    """JSON text, opaque to the store."""
    data: str
    """The event as JSON text; kept and returned to the letter."""
    state_delta: Mapping[str, Json]
    """Keys with their prefixes; `temp:` keys are refused."""
    tokens: int = 0
    """What the model counted for this event."""


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


@dataclass(frozen=True, slots=True)
class Change:
    scope: Scope
    key: str
    old: str | None
    """JSON text before the event; None: the key was absent."""
    new: str | None


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


@dataclass(frozen=True, slots=True)
class BreakpointRow:
    id: int
    app: str
    version: int
    """1, and one more with every change; hits are none."""
    enabled: bool
    hits: int
    """How often it was met, in all runs."""
    data: str
    """JSON text, opaque to the store."""


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


@dataclass(frozen=True, slots=True)
class EditRow:
    id: int
    session: int
    edit: NewEdit


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
class Artifact:
    row: ArtifactRow
    data: bytes | None
    text: str | None
