"""What is recorded of one run: enough to execute it again without its models and tools.

The server makes it of the journal for a worker; written as JSON beside a test it does without both
(decisions/0012).
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from devui.wire.engines import EngineName
from devui.wire.gates import Action, HandGate
from devui.wire.settings import RunSettings
from devui.wire.spans import SpanKind

FORMAT = "devui-recording"
VERSION = 1

DIVERGED = "ReplayDiverged"
"""The type of the error of a run that was no faithful replay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A request to a model: names of `Recording.pieces`."""

    model: str | None
    stream: bool
    system: str | None
    tools: str | None
    config: str | None
    contents: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """The run of an agent, a call of a model or a call of a tool."""

    number: int
    """Unique in the recording; calls that began later have a higher one."""
    parent: int | None
    type: SpanKind
    name: str
    agent: str
    branch: str | None = None
    call: str | None = None
    """A tool's function call id."""
    event: int | None = None
    """The place in `Recording.events`, from 0, of the event that came of it."""
    request: ModelRequest | None = None
    """Of a model call; None if it was too large to be kept."""
    args: Any = None
    """Of a tool call."""
    responses: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    """Of a model call: seconds since its begin and the response, fragments included."""
    result: Any = None
    """Of a tool call, as the tool gave it."""
    effects: dict[str, Any] = field(default_factory=dict)
    """Of a tool call: what it set in its `EventActions`, in wire form."""
    error: str | None = None
    """What it raised, as `Type: message`."""
    open: bool = False
    """It came to no end of its own: it was broken off, or the run ended before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFile:
    """A version of a file that a tool saved."""

    name: str
    version: int
    part: dict[str, Any]
    """In wire form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEdit:
    """What a person, or the guard in their name, did to what was held."""

    gate: HandGate
    action: Action
    agent: str
    tool: str | None = None
    call: str | None = None
    """A tool's function call id."""
    place: int | None = None
    """The place in `Recording.events` of the event that came of it; of an event that was dropped,
    how many were committed before. None if there is none: it was made for a tool, perhaps."""
    turn: int | None = None
    """How many runs and calls of the agent had begun by then; None if what was held tells it."""
    held: Any = None
    value: Any = None
    """What the person gave, as of a `Verdict`."""
    effects: dict[str, Any] = field(default_factory=dict)
    """The actions that came with a result, in wire form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEngine:
    """The engine that executed a run."""

    name: EngineName
    version: str
    """As of an `EngineInfo`."""

    def __str__(self) -> str:
        """As people call it: for devui, the version of its own says nothing here."""
        return f"{self.name} {self.version}" if self.name == "google-adk" else "devui.runtime"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One run."""

    format: Literal["devui-recording"] = "devui-recording"
    version: Literal[1] = 1
    engine: RecordedEngine | None = None
    """None for a run from before engines were recorded."""
    app: str
    user: str
    session: str
    """The session's id."""
    message: dict[str, Any] | None = None
    """What the user said; None for a run that resumes `invocation`."""
    invocation: str | None = None
    state_delta: dict[str, Any] | None = None
    custom_metadata: dict[str, Any] | None = None
    service_tier: str | None = None
    settings: RunSettings | None = None
    """What its model calls used in the place of the agents' own settings."""
    streaming: bool = True
    first: int = 1
    """The number, in its session, of the run's first event."""
    outcome: str = "done"
    """How the run ended: `done` or `failed`; else it was cut off."""
    error: str | None = None
    """What ended a failed run, as `Type: message`."""
    state: dict[str, Any] = field(default_factory=dict)
    """All of it before the run, with prefixes; a worker reads it from its session instead."""
    history: list[dict[str, Any]] = field(default_factory=list)
    """The session's events before the run; a worker reads them from its session instead."""
    files: list[RecordedFile] = field(default_factory=list)
    pieces: dict[str, Any] = field(default_factory=dict)
    """What requests are made of, by name."""
    calls: list[RecordedCall] = field(default_factory=list)
    """In the order in which they began."""
    edits: list[RecordedEdit] = field(default_factory=list)
    """What people did while the run was held, in its order."""
    fragments: list[dict[str, Any]] = field(default_factory=list)
    """The partial events of the run, in their order."""
    events: list[dict[str, Any]] = field(default_factory=list)
    """What the run committed, the user's message first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDifference:
    """A field that differs from the recording; null if it is absent."""

    field: str
    """A path such as `content.parts[0].text`."""
    expected: Any
    actual: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """Where a replay first differs."""

    what: Literal["model", "tool", "event", "fragment", "end", "network"]
    """A call of a model or tool, an event, a streamed fragment, the run's end, a connection."""
    message: str
    """What happened, in one or two sentences."""
    place: int
    """How many of the recorded events the replay had committed."""
    agent: str | None = None
    branch: str | None = None
    expected: Any = None
    """The recorded call or event; null if there is none."""
    actual: Any = None
    differences: list[FieldDifference] = field(default_factory=list)
    """The fields that differ, the first ones if there are many."""
    nearest: Any = None
    """For a call that isn't recorded: the recorded one that comes next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayVerdict:
    """The result of a replay."""

    identical: bool
    """Whether it ended, and everything matches the recording."""
    events: int
    """How many events match the recording."""
    recorded: int
    """How many events the recording has."""
    calls: int
    """How many calls of models and tools were answered from the recording."""
    live: int = 0
    """How many live calls of tools were made."""
    strayed: bool = False
    """A live call gave a different result than recorded, so models may see different requests."""
    notes: list[str] = field(default_factory=list)
    divergence: Divergence | None = None
