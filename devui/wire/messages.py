"""The messages between the server and a worker: frozen values, each with a `kind`.

Two rules. Both sides import this module and nothing of each other. Events, contents and state
travel as JSON *text* (a `str` field whose docstring says so), so that the store keeps byte for byte
what the agent's process produced, whichever versions of its libraries produced it.

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
from devui.wire.inspection import Inspection, InspectRun, Place
from devui.wire.recordings import ReplayVerdict
from devui.wire.settings import RunSettings
from devui.wire.spans import SpanBegan, SpanEnded
from devui.wire.structure import StructureEdge, StructureNode
from devui.wire.trials import (
    AddToMemory,
    CheckEdit,
    CheckModel,
    DescribeApp,
    DescribeBuild,
    DescribeTools,
    Recall,
    StopTrial,
    TrialResult,
    TryModel,
    TryTool,
)
from devui.wire.uncommitted import CommittedTouches, StateTouch, WatchState

# --- the contents of an app -----------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentInfo:
    """One agent of the tree, described for people."""

    name: str
    type: str
    """The class name, such as `LlmAgent`."""
    description: str = ""
    model: str | None = None
    settings: RunSettings | None = None
    """The settings of its model calls, without the model; None if it sets nothing."""
    tools: list[str] = field(default_factory=list)
    effects: dict[str, Effect] = field(default_factory=dict)
    """The effects that its tools declare, by tool; tools that declare none are left out."""
    parent: str | None = None
    takes_turns: bool = False
    """Whether the next message goes to it if it has answered last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppInfo:
    """The contents of a loaded app; `agents[0]` is the root, the others follow in tree order."""

    name: str
    description: str
    agents: list[AgentInfo]
    is_resumable: bool = True
    """Whether an invocation that was cut off can be resumed."""
    engine: EngineInfo | None = None
    """The engine that runs it; None if only its parts are described."""
    nodes: list[StructureNode] = field(default_factory=list)
    """Agents, tools and workflow nodes; a container comes before what it contains."""
    edges: list[StructureEdge] = field(default_factory=list)
    """The edges of workflows."""


# --- server to worker ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRun:
    """Run one invocation on a session whose lease the server holds."""

    run: str
    user: str
    session: str
    session_key: int
    head: int
    """The journal's seq of the session's last change; a cached copy with this seq is current."""
    shared: str
    """JSON text: the current `app:` and `user:` state, prefixes included."""
    message: str | None = None
    """JSON text of the user's Content, or None to resume `invocation`."""
    invocation: str | None = None
    state_delta: str | None = None
    """JSON text: the state to commit together with the message."""
    rewind: str | None = None
    """Rewind the session to before this invocation, instead of running one."""
    streaming: bool = True
    custom_metadata: str | None = None
    """JSON text: `RunConfig.custom_metadata`, labels for every event of the run."""
    service_tier: str | None = None
    """`RunConfig.service_tier`."""
    save_files: bool = False
    """Whether the files in the message are saved as artifacts."""
    settings: RunSettings | None = None
    """The settings that replace the agents' own in its model calls."""
    gates: list[WorkerGate] = field(default_factory=list)
    """The gates at which the run asks, as in `ArmGates`."""
    watch: bool = False
    """Whether to report uncommitted state, as `WatchState` does."""
    recording: str | None = None
    """JSON text of a `Recording`: replay that run with its answers."""
    live_tools: bool = False
    """Whether a replay calls tools live, taking only models' answers from the recording."""
    other_engine: bool = False
    """Whether the recording is from another engine. If so, the replay notes the first difference,
    continues as long as there are answers, and matches calls wherever they are made."""
    kind: Literal["start_run"] = "start_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRun:
    """Cancel a run; its end is reported by `RunEnded`."""

    run: str
    kind: Literal["stop_run"] = "stop_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmGates:
    """Make the run ask at these gates from now on, and at no others."""

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
    """Exit: no more requests follow."""

    kind: Literal["shutdown"] = "shutdown"


ToWorker = (
    StartRun
    | StopRun
    | ArmGates
    | InspectRun
    | EndCall
    | WatchState
    | DescribeTools
    | DescribeApp
    | DescribeBuild
    | CheckModel
    | CheckEdit
    | AddToMemory
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
    """The app could not be imported; the worker exits."""

    error: AgentError
    environment: str = ""
    """The engine and the Python that imported it, as a text for people."""
    kind: Literal["app_failed"] = "app_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Partial:
    """A streamed fragment, which is shown and never committed."""

    run: str
    event: str
    """JSON text of the Event."""
    kind: Literal["partial"] = "partial"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """The run has ended and sends no more messages."""

    run: str
    outcome: Literal["done", "failed", "stopped"]
    error: AgentError | None = None
    stuck_threads: int = 0
    """Calls of agent code still running in threads, which only the system can stop."""
    replay: ReplayVerdict | None = None
    """The result of the replay, if the run was one."""
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
class LoopBlocked:
    """The event loop has been blocked for `seconds`; an empty stack means that it runs again."""

    seconds: float
    stack: str
    run: str | None = None
    """The run whose code blocks the loop, if known."""
    tool: str = ""
    """The tool that blocks it; "" if other code does."""
    place: Place | None = None
    """The app's own innermost frame, or else the innermost frame."""
    kind: Literal["blocked"] = "blocked"


Debugger = Literal["pdb", "debugpy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Debugging:
    """A Python debugger has stopped code in the worker; None means that the code continues."""

    debugger: Debugger | None
    kind: Literal["debugging"] = "debugging"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorAwaited:
    """The import waits for an editor to attach at this port; None means that one has."""

    port: int | None
    kind: Literal["editor_awaited"] = "editor_awaited"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCancelled:
    """Nothing waits at this gate any more: the held code was cancelled."""

    run: str
    gate: int
    """The id of the `Gate`."""
    kind: Literal["gate_left"] = "gate_left"


# --- worker to server: requests ------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """Commit an event; the result is `{"seq": …, "number": …}` once it is durable.

    If a person edited what is held, the result is `{"verdict": …}` and nothing is committed. The
    worker then sends the event again, `is_revised`, or with the `problem` that makes the edit
    impossible.
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
    """JSON text of the event's `temp:` state, which is shown during the run and never stored."""
    spans: list[int] = field(default_factory=list)
    """The spans of the model call or the tool calls that produced the event."""
    changed: bool = False
    """Whether it says something other than the model's answer it is based on."""
    is_revised: bool = False
    problem: str | None = None
    touches: CommittedTouches | None = None
    """The uncommitted state that the event settles; None if nobody watches."""
    kind: Literal["append"] = "append"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A run has stopped at an armed gate and continues when this is answered.

    The result is null, or `{"verdict": …}`: what a person wants instead of what is held. If that is
    impossible, the worker asks again and gives the reason in `problem`.
    """

    id: int
    run: str
    gate: WorkerGate
    agent: str
    branch: str | None
    held: str
    """JSON text: the request, response, arguments or result. `schema` describes the arguments."""
    call: str | None = None
    """An id shared by the gates before and after one call of a model or tool."""
    tool: str | None = None
    schema: str | None = None
    problem: str | None = None
    kind: Literal["gate"] = "gate"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSession:
    """Result: null if the session doesn't exist, or else an object.

    `{"key", "head", "events", "state", "initial", "updated"}`; `initial` is the state that the
    session was created with.
    """

    id: int
    user: str
    session: str
    kind: Literal["fetch_session"] = "fetch_session"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchEvents:
    """Result: `{"events": [JSON text, …], "after": seq, "more": bool}`, the events in order."""

    id: int
    key: int
    after: int
    kind: Literal["fetch_events"] = "fetch_events"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSession:
    """Result: the object of `FetchSession`, with the session's `id`."""

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
    """Result: null, whether or not the session existed."""

    id: int
    user: str
    session: str
    kind: Literal["delete_session"] = "delete_session"


OfARun = (
    Append | Gate | GateCancelled | Partial | RunEnded | Output | StateTouch | SpanBegan | SpanEnded
)
"""The messages that a run's own task handles."""

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
    | LoopBlocked
    | Debugging
    | EditorAwaited
    | Inspection
    | CallEnded
    | GateCancelled
    | StateTouch
    | SpanBegan
    | SpanEnded
    | TrialResult
)
ToServer = Request | Fact
