"""The messages between the server and a worker: frozen values with a tag, and nothing else.

Two laws. Both columns import this module and nothing of each other. Events, contents and state
travel as JSON *text* (`str` fields named so in their comment), so that what the store keeps is
byte for byte what the agent's process produced, whichever versions of its libraries produced it.

A message with an `id` is a request: the server answers it with a `Reply` of the same id.
"""

from dataclasses import dataclass, field
from typing import Literal

from devui.wire.artifacts import (
    DeleteArtifact,
    ListArtifacts,
    ListVersions,
    LoadArtifact,
    SaveArtifact,
)
from devui.wire.endings import CallEnded, EndCall
from devui.wire.engines import EngineInfo
from devui.wire.errors import AgentError
from devui.wire.gates import Effect, WorkerGate
from devui.wire.recordings import ReplayVerdict
from devui.wire.settings import RunSettings
from devui.wire.spans import SpanBegan, SpanEnded
from devui.wire.standing import Look, LookAnswer, Place
from devui.wire.structure import StructureEdge, StructureNode
from devui.wire.trials import (
    CheckEdit,
    CheckModel,
    DescribeApp,
    DescribeBuild,
    DescribeTools,
    Recall,
    Remember,
    StopTrial,
    Tried,
    TryModel,
    TryTool,
)
from devui.wire.uncommitted import StateTouch, Touched, WatchState

# --- what an agent folder turned out to be --------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentInfo:
    """One agent of the tree, for people to read."""

    name: str
    type: str
    """The class name, such as `LlmAgent`."""
    description: str = ""
    model: str | None = None
    settings: RunSettings | None = None
    """What it sets of its model calls, without the model; None if it sets nothing."""
    tools: list[str] = field(default_factory=list)
    effects: dict[str, Effect] = field(default_factory=dict)
    """Of the tools that say what they do to the world."""
    parent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AppInfo:
    """What a loaded app consists of; `agents[0]` is the root, the rest in tree order."""

    name: str
    description: str
    agents: list[AgentInfo]
    goes_on: bool = True
    """Whether an invocation that was cut off can be resumed."""
    engine: EngineInfo | None = None
    """What runs it; None as long as only its parts are described."""
    nodes: list[StructureNode] = field(default_factory=list)
    """Agents, tools and workflow nodes; what contains another comes before it."""
    edges: list[StructureEdge] = field(default_factory=list)
    """The ways through workflows."""


# --- server to worker ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRun:
    """Run one invocation on a session the server holds the lease of."""

    run: str
    user: str
    session: str
    session_key: int
    head: int
    """The journal's seq of the session's last change: an equal cached copy is still true."""
    shared: str
    """JSON text: the present `app:` and `user:` state, prefixes included."""
    message: str | None = None
    """JSON text of the user's Content, or None to resume `invocation`."""
    invocation: str | None = None
    state_delta: str | None = None
    """JSON text: state to commit together with the message."""
    rewind: str | None = None
    """Instead of all this: the invocation before which the session is taken back."""
    streaming: bool = True
    custom_metadata: str | None = None
    """JSON text: `RunConfig.custom_metadata`, labels for every event of the run."""
    service_tier: str | None = None
    """`RunConfig.service_tier`."""
    settings: RunSettings | None = None
    """What its model calls use in the place of the agents' own settings."""
    gates: list[WorkerGate] = field(default_factory=list)
    """The gates at which the run asks, as of `ArmGates`."""
    watch: bool = False
    """Tell of uncommitted state, as of `WatchState`."""
    recording: str | None = None
    """JSON text of a `Recording`: execute that run again with its answers."""
    live_tools: bool = False
    """Call the tools all the same; only the models are answered from the recording."""
    other_engine: bool = False
    """The recording is of another engine: note the first difference and go on, as long as there
    are answers, and find a call wherever it is made."""
    kind: Literal["start_run"] = "start_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRun:
    """Cancel a run; its end is reported by `RunEnded`."""

    run: str
    kind: Literal["stop_run"] = "stop_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmGates:
    """From now on the run asks at these gates and at no others."""

    run: str
    gates: list[WorkerGate]
    kind: Literal["arm_gates"] = "arm_gates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why the server refused a request."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer to the request with this id: a result as JSON text, or a failure."""

    id: int
    result: str | None = None
    failure: Failure | None = None
    kind: Literal["reply"] = "reply"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shutdown:
    """Leave: nothing more will be asked."""

    kind: Literal["shutdown"] = "shutdown"


ToWorker = (
    StartRun
    | StopRun
    | ArmGates
    | Look
    | EndCall
    | WatchState
    | DescribeTools
    | DescribeApp
    | DescribeBuild
    | CheckModel
    | CheckEdit
    | Remember
    | Recall
    | TryTool
    | TryModel
    | StopTrial
    | Reply
    | Shutdown
)


# --- worker to server: facts ---------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class AppLoaded:
    """The app was imported; runs may start."""

    info: AppInfo
    kind: Literal["app_loaded"] = "app_loaded"


@dataclass(frozen=True, slots=True, kw_only=True)
class AppFailed:
    """The app could not be imported; the worker leaves."""

    error: AgentError
    kind: Literal["app_failed"] = "app_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Partial:
    """A streamed fragment: shown, never committed."""

    run: str
    event: str
    """JSON text of the Event."""
    kind: Literal["partial"] = "partial"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """The run is over and will send nothing more."""

    run: str
    outcome: Literal["done", "failed", "stopped"]
    error: AgentError | None = None
    stuck_threads: int = 0
    """Calls of agent code still running in threads, which nobody can stop but the system."""
    replay: ReplayVerdict | None = None
    """What came of it, if it was a replay."""
    kind: Literal["run_ended"] = "run_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Something the agent's code printed or logged."""

    run: str | None
    stream: str
    """`stdout`, `stderr`, or the level of a log record in lower case."""
    text: str
    at: float
    """Seconds since the epoch."""
    kind: Literal["output"] = "output"


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """The worker's event loop has not turned for `seconds`; an empty stack says it turns again."""

    seconds: float
    stack: str
    run: str | None = None
    """The run whose code holds the loop, if that can be told."""
    tool: str = ""
    """The tool that does; "" if other code does."""
    place: Place | None = None
    """The app's own innermost frame, else the innermost."""
    kind: Literal["blocked"] = "blocked"


Debugger = Literal["pdb", "debugpy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Debugging:
    """A debugger of Python has stopped code in the worker; without one, it goes on again."""

    debugger: Debugger | None
    kind: Literal["debugging"] = "debugging"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorAwaited:
    """The app isn't imported before an editor attaches at this port; None: one has attached."""

    port: int | None
    kind: Literal["editor_awaited"] = "editor_awaited"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLeft:
    """Nobody waits at this gate any more: what stood there was cancelled."""

    run: str
    gate: int
    """The id of the `Gate`."""
    kind: Literal["gate_left"] = "gate_left"


# --- worker to server: requests ------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """Commit an event; the result is `{"seq": …, "number": …}` once it is durable.

    Or it is `{"verdict": …}`: a person edited what is held, and nothing is committed. The worker
    sends the event again, `revised`, or with the `problem` why it cannot be as the person wants.
    """

    id: int
    run: str | None
    user: str
    session: str
    final: bool
    """The event's `is_final_response()`, decided by the runtime that made it."""
    event: str
    """JSON text of the Event, without `temp:` state."""
    temp: str | None = None
    """JSON text of the `temp:` state the event carried: shown while the run lives, never kept."""
    spans: list[int] = field(default_factory=list)
    """The model call or the tool calls that the event came of."""
    revised: bool = False
    problem: str | None = None
    touched: Touched | None = None
    """What of the uncommitted state it brings to an end; None where nobody watches."""
    kind: Literal["append"] = "append"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A run stands at an armed gate and goes on when this is answered.

    The result is null, or `{"verdict": …}`: what a person wants in place of what is held. If that
    cannot be, the worker asks again and says why in `problem`.
    """

    id: int
    run: str
    gate: WorkerGate
    agent: str
    branch: str | None
    held: str
    """JSON text: the request, response, arguments or result; `schema` is that of the arguments."""
    call: str | None = None
    """Common to the gates before and after one call of a model or tool."""
    tool: str | None = None
    schema: str | None = None
    problem: str | None = None
    kind: Literal["gate"] = "gate"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSession:
    """Result: null if there is no such session.

    `{"key", "head", "events", "state", "initial", "updated"}`; `initial` is the state that it was
    created with.
    """

    id: int
    user: str
    session: str
    kind: Literal["fetch_session"] = "fetch_session"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchEvents:
    """Result: `{"events": [JSON text, …], "after": seq, "more": bool}`, in order."""

    id: int
    key: int
    after: int
    kind: Literal["fetch_events"] = "fetch_events"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSession:
    """Result as of `FetchSession`, with the session's `id`."""

    id: int
    user: str
    session: str | None
    state: str
    """JSON text of the initial state."""
    kind: Literal["create_session"] = "create_session"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSessions:
    """Result: a list of `{"id", "user", "state", "updated"}`."""

    id: int
    user: str | None
    kind: Literal["list_sessions"] = "list_sessions"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSession:
    """Result: null, also when there was none."""

    id: int
    user: str
    session: str
    kind: Literal["delete_session"] = "delete_session"


OfARun = Append | Gate | GateLeft | Partial | RunEnded | Output | StateTouch | SpanBegan | SpanEnded
"""What a run's own task takes."""

Request = (
    Append
    | Gate
    | FetchSession
    | FetchEvents
    | CreateSession
    | ListSessions
    | DeleteSession
    | SaveArtifact
    | LoadArtifact
    | ListArtifacts
    | ListVersions
    | DeleteArtifact
)
Fact = (
    AppLoaded
    | AppFailed
    | Partial
    | RunEnded
    | Output
    | Blocked
    | Debugging
    | EditorAwaited
    | LookAnswer
    | CallEnded
    | GateLeft
    | StateTouch
    | SpanBegan
    | SpanEnded
    | Tried
)
ToServer = Request | Fact
