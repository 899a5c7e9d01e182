"""What the worker's instruments need from the runtime that executes an app.

Gates, recorder, replayer, trials and services create values of the runtime's classes and check
types against them. They know the runtime only as a `Kit`, which each engine provides:
`engines/native.py` for devui.runtime, `engines/adk.py` for google-adk. The type names are those of
devui.runtime, for readers and type checkers; at run time, no class is imported here.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from devui.wire.engines import EngineName
from devui.wire.inspection import Waiting

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
    # Base classes of devui's own services, which `Kit.derive` combines with the runtime's.
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
    "FrameReader",
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
]

T = TypeVar("T")


class PluginChain(Protocol):
    """The plugins of a runner, including the worker's own."""

    def set_disabled(self, names: Iterable[str]) -> None:
        """Disable the plugins with these names, and enable all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameReader:
    """How to read a runtime's frames: what its code waits for, and which agent it works for."""

    waits: Mapping[CodeType, Waiting]
    """What these coroutines wait for when they are innermost."""
    calls: Mapping[Literal["model", "tool"], CodeType]
    """The code that makes every call of a kind."""
    agent_of: Callable[[FrameType], tuple[str, str | None] | None]
    """Returns the agent and the branch that a frame works for; None if it doesn't tell."""
    folder: str = ""
    """The folder of a runtime whose coroutines wait for other tasks of the run unless `waits` says
    otherwise; "" if this isn't known."""
    bookkeeping: tuple[str, ...] = ()
    """Files and folders whose code reads state only to merge writes, on behalf of no agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """The classes of one runtime, and the operations that differ between the runtimes."""

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
    """Reads an event from its JSON text in wire form."""
    check_commit: Callable[[Session, Event], None]
    """Raises the runtime's own errors for an invalid session or event."""
    run_config: Callable[..., RunConfig]
    """Takes `streaming` (bool), `custom_metadata` (dict | None) and `service_tier` (str | None)."""
    memories: Callable[[Any, str, str, int], Awaitable[list[Any] | None]]
    """Returns a service's newest memories of an app and user; None if it can't list them."""
    new_model: Callable[[str], Any]
    """Returns a model object for a name. Raises ValueError if no class supports the name,
    ImportError if its class needs a package that isn't installed."""
    runner: Callable[..., Runner]
    """Takes an app's export, `app_name`, `session_service`, `artifact_service` and
    `memory_service`."""
    chain: Callable[
        [Runner, Sequence[BasePlugin], Sequence[BasePlugin], Sequence[BasePlugin]], PluginChain
    ]
    """Puts plugins before and after those of a runner, and others innermost, around the calls."""
    is_resumable: Callable[[Runner], bool]
    """Returns whether an invocation that was cut off can be resumed."""
    children: Callable[[BaseNode], Iterable[BaseNode]]
    """Returns the sub-agents or nodes directly below a node."""
    invocation: Callable[..., InvocationContext]
    """Takes `runner`, `agent`, `session` and `artifact_service`; for trials, outside of runs."""
    tool_context: Callable[[InvocationContext, str], Context]
    """Returns the context of one tool call, by its id; the call counts as confirmed."""
    steers: Callable[[BaseTool], bool]
    """Returns whether a tool is the runtime's own and runs or directs agents whose calls can be
    observed; a replay executes such a tool again."""
    frames: FrameReader

    @property
    def exported(self) -> tuple[type, type]:
        """The types that an app's module may export."""
        return self.app, self.base_node

    def derive(self, own: type[T], base: type) -> type[T]:
        """Combine a service of devui's with the runtime's base class, for `isinstance` checks."""
        return type(own.__name__, (own, base), {"__module__": own.__module__})
