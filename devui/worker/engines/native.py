"""The kit of devui.runtime."""

from collections.abc import Sequence
from types import FrameType
from typing import Any

from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.context import Context, ReadonlyContext
from devui.runtime.agents.hand_over import merge, produce
from devui.runtime.agents.invocation_context import InvocationContext, new_invocation_context_id
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.agents.run_config import RunConfig, StreamingMode
from devui.runtime.apps.app import App
from devui.runtime.artifacts.base_artifact_service import ArtifactVersion, BaseArtifactService
from devui.runtime.artifacts.in_memory_artifact_service import InMemoryArtifactService
from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.credential_service import (
    InMemoryCredentialService,
)
from devui.runtime.errors import AlreadyExistsError, InputValidationError, SessionNotFoundError
from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions
from devui.runtime.events.reading import read_event
from devui.runtime.flows.llm_flows.functions import EventRelay
from devui.runtime.flows.llm_flows.model_call import ModelCall
from devui.runtime.flows.llm_flows.tool_calls import ToolCall
from devui.runtime.invocations.resumption import goes_on
from devui.runtime.invocations.toolsets import nodes_below
from devui.runtime.memory.in_memory_memory_service import InMemoryMemoryService
from devui.runtime.memory.listing import memories
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.models.registry import LLMRegistry
from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.plugins.plugin_manager import PluginManager
from devui.runtime.runners import Runner
from devui.runtime.sessions.base_session_service import (
    BaseSessionService,
    ListSessionsResponse,
    check_commit,
)
from devui.runtime.sessions.in_memory_session_service import InMemorySessionService
from devui.runtime.sessions.session import Session
from devui.runtime.tools.agent_tool import AgentTool
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.base_toolset import BaseToolset
from devui.runtime.tools.delegated_agent_tool import DelegatedAgentTool
from devui.runtime.tools.finish_task_tool import FinishTaskTool
from devui.runtime.tools.node_tool import NodeTool
from devui.runtime.tools.tool_confirmation import ToolConfirmation
from devui.runtime.version import __version__
from devui.runtime.workflow.base_node import BaseNode
from devui.runtime.workflow.node_runner import perform
from devui.worker.engines.kit import FrameReader, Kit

_STEER = (AgentTool, DelegatedAgentTool, NodeTool, FinishTaskTool)


def _runner(exported: App | BaseNode, **services: Any) -> Runner:
    app, agent = (exported, None) if isinstance(exported, App) else (None, exported)
    return Runner(
        app=app,
        agent=agent,
        credential_service=InMemoryCredentialService(),
        **services,
    )


def _chain(
    runner: Runner,
    before: Sequence[BasePlugin],
    after: Sequence[BasePlugin],
    around: Sequence[BasePlugin],
) -> PluginManager:
    own = runner.plugin_manager.plugins
    runner.plugin_manager = PluginManager([*before, *own, *after, *around])
    return runner.plugin_manager


def _run_config(*, streaming: bool, **settings: Any) -> RunConfig:
    mode = StreamingMode.SSE if streaming else StreamingMode.NONE
    return RunConfig(streaming_mode=mode, **settings)


def _is_resumable(runner: Runner) -> bool:
    config = runner.app.resumability_config
    return goes_on(runner.app.root_agent, resumable=bool(config and config.is_resumable))


def _invocation(runner: Runner, **own: Any) -> InvocationContext:
    return InvocationContext(
        session_service=InMemorySessionService(),
        memory_service=InMemoryMemoryService(),
        credential_service=runner.credential_service,
        invocation_id=new_invocation_context_id(),
        emit=_drop,
        **own,
    )


async def _drop(event: Event) -> None:
    """Discard what a tool emits while it runs in a trial."""


def _tool_context(invocation: InvocationContext, call: str) -> Context:
    confirmed = ToolConfirmation(confirmed=True)
    return Context(invocation, function_call_id=call, tool_confirmation=confirmed)


def _steers(tool: BaseTool) -> bool:
    own = any(type(tool).run_async is kind.run_async for kind in _STEER)
    return own and not (isinstance(tool, AgentTool) and not tool.include_plugins)


def _agent_of(frame: FrameType) -> tuple[str, str | None] | None:
    if frame.f_code is BaseAgent._run_between_callbacks.__code__:
        local = frame.f_locals
        return str(local["self"].name), local["parent_context"].branch
    if frame.f_code is produce.__code__ and "produced" in frame.f_locals:
        event = frame.f_locals["produced"].event
        return event.author, event.branch
    if frame.f_code is perform.__code__:
        start = frame.f_locals["start"]
        return str(start.node.name), start.parent.invocation.branch
    return None


KIT = Kit(
    name="devui",
    version=__version__,
    app=App,
    base_node=BaseNode,
    llm_agent=LlmAgent,
    base_toolset=BaseToolset,
    base_plugin=BasePlugin,
    event=Event,
    event_actions=EventActions,
    llm_request=LlmRequest,
    llm_response=LlmResponse,
    auth_credential=AuthCredential,
    session=Session,
    list_sessions_response=ListSessionsResponse,
    artifact_version=ArtifactVersion,
    readonly_context=ReadonlyContext,
    base_session_service=BaseSessionService,
    base_artifact_service=BaseArtifactService,
    in_memory_session_service=InMemorySessionService,
    in_memory_artifact_service=InMemoryArtifactService,
    in_memory_memory_service=InMemoryMemoryService,
    already_exists_error=AlreadyExistsError,
    session_not_found_error=SessionNotFoundError,
    input_validation_error=InputValidationError,
    read_event=read_event,
    check_commit=check_commit,
    run_config=_run_config,
    memories=memories,
    new_model=LLMRegistry.new_llm,
    runner=_runner,
    chain=_chain,
    is_resumable=_is_resumable,
    children=nodes_below,
    invocation=_invocation,
    tool_context=_tool_context,
    steers=_steers,
    frames=FrameReader(
        waits={
            EventRelay.emit.__code__: "commit",
            produce.__code__: "commit",
            merge.__code__: "tasks",
            EventRelay.events.__code__: "tasks",
        },
        calls={"model": ModelCall._between_callbacks.__code__, "tool": ToolCall.run.__code__},
        agent_of=_agent_of,
    ),
)
