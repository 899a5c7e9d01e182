"""The recording of one run: enough to replay it without its models and tools.

The server builds it from the journal for a worker. Saved as JSON beside a test, it needs neither
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
"""The error type of a run that wasn't a faithful replay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A request to a model; except for `stream`, the fields hold names of `Recording.pieces`."""

    model: str | None
    stream: bool
    system: str | None
    tools: str | None
    config: str | None
    contents: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """A run of an agent, or a call of a model or tool."""

    number: int
    """Unique in the recording; increases in the order in which calls began."""
    parent: int | None
    type: SpanKind
    name: str
    agent: str
    branch: str | None = None
    call: str | None = None
    """A tool's function call id."""
    event: int | None = None
    """The index in `Recording.events` of the event that the call produced."""
    request: ModelRequest | None = None
    """The request of a model call; None if it was too large to keep."""
    args: Any = None
    """The arguments of a tool call."""
    responses: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    """The responses of a model call, fragments included, with the seconds since it began."""
    result: Any = None
    """The result of a tool call, as the tool returned it."""
    effects: dict[str, Any] = field(default_factory=dict)
    """What a tool call set in its `EventActions`, in wire form."""
    error: str | None = None
    """The exception, as `Type: message`."""
    open: bool = False
    """Whether it never finished: it was cut off, or the run ended first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFile:
    """A version of a file that a tool saved."""

    name: str
    version: int
    part: dict[str, Any]
    """The Part, in wire form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEdit:
    """A change to what was held, by a person or by the guard on their behalf."""

    gate: HandGate
    action: Action
    agent: str
    tool: str | None = None
    call: str | None = None
    """A tool's function call id."""
    place: int | None = None
    """The index in `Recording.events` of the resulting event; for a dropped event, how many events
    were committed before it. None if no event resulted, for example inside a tool."""
    turn: int | None = None
    """How many runs and calls of the agent had begun by then; None if `held` is unambiguous."""
    held: Any = None
    value: Any = None
    """What the person entered, as in a `Verdict`."""
    effects: dict[str, Any] = field(default_factory=dict)
    """The actions that belong to a result, in wire form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEngine:
    """The engine that executed a run."""

    name: EngineName
    version: str
    """The version, as in `EngineInfo`."""

    def __str__(self) -> str:
        """Return the engine for people to read; devui's own version says nothing here."""
        return f"{self.name} {self.version}" if self.name == "google-adk" else "devui.runtime"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The recording of one run."""

    format: Literal["devui-recording"] = "devui-recording"
    version: Literal[1] = 1
    engine: RecordedEngine | None = None
    """The engine; None for a run from before engines were recorded."""
    app: str
    user: str
    session: str
    """The session's id."""
    message: dict[str, Any] | None = None
    """The user's message; None for a run that resumes `invocation`."""
    invocation: str | None = None
    state_delta: dict[str, Any] | None = None
    custom_metadata: dict[str, Any] | None = None
    service_tier: str | None = None
    save_files: bool = False
    """Whether the files in the message were saved as artifacts."""
    settings: RunSettings | None = None
    """The settings that replaced the agents' own in its model calls."""
    streaming: bool = True
    first: int = 1
    """The number, within the session, of the run's first event."""
    outcome: str = "done"
    """How the run ended: `done` or `failed`; any other value means that it was cut off."""
    error: str | None = None
    """The error that ended a failed run, as `Type: message`."""
    state: dict[str, Any] = field(default_factory=dict)
    """The whole state before the run, with prefixes; a worker reads it from its session instead."""
    history: list[dict[str, Any]] = field(default_factory=list)
    """The session's events before the run; a worker reads them from its session instead."""
    files: list[RecordedFile] = field(default_factory=list)
    pieces: dict[str, Any] = field(default_factory=dict)
    """The pieces that requests consist of, by name."""
    calls: list[RecordedCall] = field(default_factory=list)
    """The calls, in the order in which they began."""
    edits: list[RecordedEdit] = field(default_factory=list)
    """The edits that people made while the run was held, in order."""
    fragments: list[dict[str, Any]] = field(default_factory=list)
    """The partial events of the run, in order."""
    events: list[dict[str, Any]] = field(default_factory=list)
    """The events that the run committed, the user's message first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDifference:
    """A field that differs from the recording; null stands for an absent value."""

    field: str
    """A path such as `content.parts[0].text`."""
    expected: Any
    actual: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """The first difference between a replay and its recording."""

    what: Literal["model", "tool", "event", "fragment", "end", "network"]
    """A call of a model or tool, an event, a streamed fragment, the run's end, a connection."""
    message: str
    """What happened, in one or two sentences."""
    place: int
    """How many of the recorded events the replay had committed by then."""
    agent: str | None = None
    branch: str | None = None
    expected: Any = None
    """The recorded call or event; null if there is none."""
    actual: Any = None
    differences: list[FieldDifference] = field(default_factory=list)
    """The fields that differ; only the first ones if there are many."""
    nearest: Any = None
    """The next recorded call, if the call itself isn't recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayVerdict:
    """The result of a replay."""

    identical: bool
    """Whether the replay finished and everything matched the recording."""
    events: int
    """How many events matched the recording."""
    recorded: int
    """How many events the recording has."""
    calls: int
    """How many calls of models and tools were answered from the recording."""
    live: int = 0
    """How many tool calls were made live."""
    results_differ: bool = False
    """Whether a live call returned something other than recorded, so that requests may differ."""
    notes: list[str] = field(default_factory=list)
    divergence: Divergence | None = None
