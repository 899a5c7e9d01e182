"""Runs as JSON: their position, what is held, what they wait for (docs/guide/api.md)."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from devui.debugger.guard.effects import Class, Source
from devui.debugger.recovery.unknown_calls import Choice
from devui.debugger.stepping.arrivals import GateKind
from devui.debugger.stepping.stepper import Reason
from devui.wire.gates import Action, Effect
from devui.wire.inspection import Waiting
from devui.wire.messages import Debugger

Status = Literal["running", "held", "stopping", "done", "failed", "stopped", "interrupted"]


class StateChangeJson(TypedDict):
    """The change that an event's commit makes to a state key; `old` is absent for a new key."""

    key: str
    new: Any
    """After an edit, the value that the edit writes."""
    old: NotRequired[Any]
    original: NotRequired[Any]
    """What the agent's code wrote, if an edit replaces it."""


class RecordedCallJson(TypedDict):
    """What the tool returned before."""

    session: int
    number: int
    args: dict[str, Any]
    result: dict[str, Any]


class GuardRulingJson(TypedDict):
    """A tool is about to run again."""

    effect: Class
    source: Source
    sameArgs: bool
    """The recorded call had the same arguments: its result is used unless `undo` is sent."""
    recorded: RecordedCallJson | None


class HoldEditJson(TypedDict):
    """The edit that is applied to a hold when it is released."""

    action: str
    value: Any
    actor: str
    at: float
    effects: dict[str, Any]
    """The actions of a recorded result, such as the state that the tool wrote."""


class HoldJson(TypedDict):
    """One hold."""

    id: int
    gate: GateKind
    agent: str
    path: list[str]
    branch: str | None
    kind: str | None
    text: str | None
    number: int | None
    tool: str | None
    schema: dict[str, Any] | None
    """Before a tool: the declaration of its arguments."""
    call: str | None
    since: float
    paused: NotRequired[float]
    """How long the run had been held before, in seconds."""
    reason: Reason
    breakpoint: int | None
    held: Any
    actions: list[Action]
    edit: HoldEditJson | None
    problem: str | None
    changes: list[StateChangeJson]
    guard: GuardRulingJson | None


class PlaceJson(TypedDict):
    """One frame of a stack; never the value of a variable."""

    file: str
    line: int
    function: str
    source: str
    own: bool
    """Whether it is code of the app, not of a library or of devui."""


class BranchJson(TypedDict):
    """One of the branches that run at the same time."""

    status: Literal["held", "running", "behind"]
    """`behind`: its event waits for earlier ones to be committed."""
    agent: str
    branch: str | None
    doing: str
    """The tool, the model or the event."""
    call: str | None
    since: float | None
    place: PlaceJson | None
    waits: Waiting
    task: int | None
    hold: int | None
    """The id with which a command moves this branch alone."""


class LastCommandJson(TypedDict):
    """The last command and who sent it."""

    command: str
    actor: str
    key: str
    at: float


class DebuggerJson(TypedDict):
    """A Python debugger that the run waits for a person to use."""

    name: Debugger
    status: Literal["stopped", "awaited"]
    """`stopped`: it stopped the agent's code; continue there. `awaited`: the app isn't loaded until
    an editor attaches."""
    address: str | None
    """Where to attach."""


class FrameJson(TypedDict):
    """A line of the app's own code in a traceback."""

    file: str
    """Relative to the agents folder."""
    line: int
    function: str
    source: str
    """The line's text; "" if unknown."""


class RunErrorJson(TypedDict):
    """Why a run failed."""

    type: str | None
    message: str | None
    file: str | None
    """Where it was raised; in the app's own code if the exception passed through it."""
    line: int | None
    frames: list[FrameJson]
    """The traceback's frames in the app's own code, outermost first, up to 20."""


class PositionJson(TypedDict):
    """A run's position. `heldSeconds`, `lastCommand` and `debugger` are present while it is
    active, `lost` once it has ended."""

    run: str
    session: int
    invocationId: str | None
    status: Status
    started: float
    ended: float | None
    position: int | None
    """Increases with every command, hold and release; null once the run has ended."""
    plan: str | None
    """The command that the run is executing."""
    holds: list[HoldJson]
    branches: list[BranchJson]
    """While the run is held: the holds, and what still runs beside them."""
    heldSeconds: NotRequired[float]
    """Without the current holds."""
    lastCommand: NotRequired[LastCommandJson | None]
    debugger: NotRequired[DebuggerJson | None]
    lost: NotRequired[list[HoldJson]]
    """What was held when the server stopped."""
    error: NotRequired[RunErrorJson | None]
    """The error of a run that failed or was interrupted."""


class CommandRefusedJson(TypedDict):
    """A refused command."""

    detail: str
    position: PositionJson


class UnknownCallJson(TypedDict):
    """A call whose outcome is unknown."""

    id: str
    tool: str
    agent: str
    args: Any
    event: int
    mark: Effect | None
    recorded: Any
    writes: dict[str, Any]
    """The state that it wrote, which the recorded result includes."""
    default: Choice
    needsDecision: bool
    longRunning: bool
    """Whether it is answered later, so that you can also wait for it."""
    ran: bool
    """False if the debugger held it, or someone answered it before it ran."""
    answeredBy: str | None
    """Who answered it instead, without a commit; null if nobody did."""


class DecisionsRequiredJson(TypedDict):
    """Calls of unknown outcome need a decision before the run can start."""

    detail: str
    unknown: list[UnknownCallJson]


class BlockedLoopJson(TypedDict):
    """What blocks the event loop."""

    seconds: float
    run: str | None
    tool: str
    place: PlaceJson | None


class PendingCallJson(TypedDict):
    """An active call of a model or tool."""

    id: int
    """The id for commands about it."""
    kind: Literal["model", "tool"]
    name: str
    about: str
    """The arguments as JSON, or what was sent to the model, shortened."""
    agent: str
    branch: str | None
    call: str | None
    since: float
    seconds: float
    task: int
    place: PlaceJson | None
    thread: bool
    """Whether it waits for a plain function in a thread, which can't be stopped."""
    ending: bool
    """Whether a person ended it and it hasn't responded yet."""
    schema: str | None
    """The JSON Schema of the tool's declared result, as JSON text."""


class TaskJson(TypedDict):
    """An asyncio task of the run."""

    id: int
    name: str
    agent: str
    branch: str | None
    waits: Waiting
    on: str
    awaits: int | None
    """The task that it waits for: the awaited one, or the one that holds the lock."""
    places: list[PlaceJson]
    """Outermost first."""


class RequesterJson(TypedDict):
    """The tool, toolset or node that needs the credential or the confirmation."""

    kind: Literal["tool", "toolset", "node"]
    name: str


_For = TypedDict("_For", {"for": RequesterJson | None})


class QuestionJson(_For):
    """A question of an ended run that waits for a person's answer."""

    call: str
    name: str
    args: str
    agent: str
    event: int
    asks: str
    about: str
    """The subject of the question, such as a call or message; empty for a long-running tool."""


class RunActivityJson(TypedDict):
    """What a run waits for."""

    run: str
    session: int
    status: Status
    answered: bool
    """Whether the agent's process reported where its code is."""
    lastProgress: float | None
    silentSeconds: float
    """Seconds since the last event, chunk, gate or command."""
    debugger: DebuggerJson | None
    blocked: BlockedLoopJson | None
    branches: list[BranchJson]
    calls: list[PendingCallJson]
    """Oldest first."""
    tasks: list[TaskJson]
    deadlocks: list[list[int]]
    """Tasks that wait for each other."""
    questions: list[QuestionJson]
    """The questions of an ended run."""


class OutputLineJson(TypedDict):
    """A line that a run printed or logged."""

    number: int
    """Its number within the run, from 1."""
    stream: str
    """`stdout`, `stderr`, the level of a logged line, or `debugger`."""
    text: str
    at: float


class OutputLinesJson(TypedDict):
    """Lines that a run printed or logged, oldest first."""

    lines: list[OutputLineJson]


class SessionJson(TypedDict):
    """A session and its key."""

    key: int
    app: str
    user: str
    id: str
    title: str | None
    events: int
    updated: float
    run: str | None
    """The active run."""
    starred: bool
    note: str
    """The note on the session."""
    tags: list[str]
    imported: bool
    """Whether it is read-only because it was imported."""


class SessionsJson(TypedDict):
    """Sessions, most recently active first unless the query sorts them."""

    sessions: list[SessionJson]
    total: NotRequired[int]
    """The number of sessions on all pages; only present for a list in pages."""


class EditJson(TypedDict):
    """An edit of something held."""

    id: int
    run: str
    gate: str
    agent: str
    tool: str | None
    call: str | None
    event: str | None
    action: str
    actor: str
    at: float
    before: Any
    after: Any


class EditsJson(TypedDict):
    """Edits by people, oldest first."""

    edits: list[EditJson]
