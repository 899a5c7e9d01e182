"""What the worker's instruments need of the runtime that executes an app.

Gates, recorder, replayer, trials and services make values of the runtime's classes, and ask which
kind of thing they look at. They know the runtime by a `Kit` alone, which each engine gives them:
`engines/native.py` for devui.runtime, `engines/adk.py` for google-adk. The names of types are those
of devui.runtime for whoever reads and checks the code; at run time no class comes from here.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from devui.wire.engines import EngineName
from devui.wire.standing import Waiting

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.context import Context
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.llm_agent import LlmAgent
    from devui.runtime.agents.run_config import RunConfig
    from devui.runtime.apps.app import App
    from devui.runtime.artifacts.base_artifact_service import ArtifactVersion, BaseArtifactService
    from devui.runtime.artifacts.in_memory_artifact_service import InMemoryArtifactService
    from devui.runtime.events.event import Event
    from devui.runtime.events.event_actions import EventActions
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.models.llm_response import LlmResponse
    from devui.runtime.plugins.base_plugin import BasePlugin
    from devui.runtime.runners import Runner
    from devui.runtime.sessions.base_session_service import (
        BaseSessionService,
        GetSessionConfig,
        ListSessionsResponse,
    )
    from devui.runtime.sessions.in_memory_session_service import InMemorySessionService
    from devui.runtime.sessions.session import Session
    from devui.runtime.tools.base_tool import BaseTool
    from devui.runtime.tools.base_toolset import BaseToolset
    from devui.runtime.workflow.base_node import BaseNode
else:
    App = BaseAgent = BaseNode = BaseTool = BaseToolset = Context = InvocationContext = Any
    LlmAgent = RunConfig = Runner = Session = GetSessionConfig = ListSessionsResponse = Any
    BasePlugin = Event = EventActions = LlmRequest = LlmResponse = ArtifactVersion = Any
    # Bases of our own services, which `Kit.derive` puts on top of the runtime's.
    BaseArtifactService = BaseSessionService = InMemorySessionService = object
    InMemoryArtifactService = Any

__all__ = [
    "App",
    "ArtifactVersion",
    "BaseAgent",
    "BaseArtifactService",
    "BaseNode",
    "BasePlugin",
    "BaseSessionService",
    "BaseTool",
    "BaseToolset",
    "Context",
    "EngineName",
    "Event",
    "EventActions",
    "GetSessionConfig",
    "InMemoryArtifactService",
    "InMemorySessionService",
    "InvocationContext",
    "Kit",
    "ListSessionsResponse",
    "LlmAgent",
    "LlmRequest",
    "LlmResponse",
    "PluginChain",
    "RunConfig",
    "Runner",
    "Session",
    "Standing",
]

T = TypeVar("T")


class PluginChain(Protocol):
    """The plugins of a runner, the worker's own among them."""

    def let_rest(self, names: Iterable[str]) -> None:
        """Call no hooks of the plugins of these names, and those of all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How to read the frames of a runtime: where its code waits, and for whom it works."""

    waits: Mapping[CodeType, Waiting]
    """What these coroutines wait for, where they are the innermost."""
    calls: Mapping[Literal["model", "tool"], CodeType]
    """The code that every call of the kind is made by."""
    agent_of: Callable[[FrameType], tuple[str, str | None] | None]
    """The agent and the branch that a frame works for; None where it does not tell."""
    folder: str = ""
    """The folder of a runtime whose coroutines all wait for other tasks of the run, where `waits`
    says nothing else; "" if they are not known to."""
    bookkeeping: tuple[str, ...] = ()
    """Files and folders whose code reads the state to merge what was written, and for no agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """The classes of one runtime, and what is done with them in another way than in the other."""

    name: EngineName
    version: str

    app: type[App]
    base_node: type[BaseNode]
    llm_agent: type[LlmAgent]
    base_toolset: type[Any]
    base_plugin: type[BasePlugin]
    event: type[Event]
    event_actions: type[EventActions]
    llm_request: type[LlmRequest]
    llm_response: type[LlmResponse]
    auth_credential: type[Any]
    session: type[Session]
    list_sessions_response: type[ListSessionsResponse]
    artifact_version: type[ArtifactVersion]
    readonly_context: Callable[[InvocationContext], Any]
    base_session_service: type[Any]
    base_artifact_service: type[Any]
    in_memory_session_service: type[InMemorySessionService]
    in_memory_artifact_service: type[InMemoryArtifactService]
    in_memory_memory_service: type[Any]
    already_exists_error: Callable[[str], Exception]
    session_not_found_error: Callable[[str], Exception]
    input_validation_error: Callable[[str], Exception]

    read_event: Callable[[str], Event]
    """An event from its JSON text in wire form."""
    check_commit: Callable[[Session, Event], None]
    """Raises what the runtime's own services raise for a session or an event that is none."""
    run_config: Callable[..., RunConfig]
    """Of `streaming` (bool), `custom_metadata` (dict or None) and `service_tier` (str or None)."""
    memories: Callable[[Any, str, str, int], Awaitable[list[Any] | None]]
    """The newest memories in a service, of an app and a user; None where it can't be listed."""
    new_model: Callable[[str], Any]
    """A model object for a name. Raises ValueError where no class takes such names, ImportError
    where that class needs a package that is not installed."""
    runner: Callable[..., Runner]
    """Of what an app exports, with `app_name`, `session_service`, `artifact_service` and
    `memory_service`."""
    chain: Callable[
        [Runner, Sequence[BasePlugin], Sequence[BasePlugin], Sequence[BasePlugin]], PluginChain
    ]
    """Puts plugins before and after those of a runner, and others innermost, around the calls."""
    is_resumable: Callable[[Runner], bool]
    """Whether an invocation that was cut off can be resumed."""
    children: Callable[[BaseNode], Iterable[BaseNode]]
    """The sub-agents or the nodes right below a node."""
    invocation: Callable[..., InvocationContext]
    """Of `runner`, `agent`, `session`, `artifact_service`, outside of any run: for a trial."""
    tool_context: Callable[[InvocationContext, str], Context]
    """The context of one tool call, by its id, which counts as confirmed."""
    steers: Callable[[BaseTool], bool]
    """Whether it is the runtime's own tool that runs or directs agents whose models and tools can
    be looked into: a replay executes it again."""
    standing: Standing

    @property
    def exported(self) -> tuple[type, type]:
        """What the module of an app may export."""
        return self.app, self.base_node

    def derive(self, own: type[T], base: type) -> type[T]:
        """A service of ours as one of the runtime's, whose checks by `isinstance` it passes."""
        return type(own.__name__, (own, base), {"__module__": own.__module__})
