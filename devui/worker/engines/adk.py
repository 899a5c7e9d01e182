"""The kit of google-adk: apps that import `google.adk` run on google-adk's own Runner.

It uses google-adk's public names, and its contexts' `_invocation_context`. google-adk is loaded
with this module, from the interpreter that the worker runs in.
"""

import functools
import uuid
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from contextvars import ContextVar
from types import FrameType
from typing import Any, Final
from weakref import WeakValueDictionary

import google.adk
from google.adk.agents.base_agent import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.llm_agent import LlmAgent
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps.app import App
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.artifacts.base_artifact_service import ArtifactVersion, BaseArtifactService
from google.adk.artifacts.in_memory_artifact_service import InMemoryArtifactService
from google.adk.auth.auth_credential import AuthCredential
from google.adk.auth.credential_service.in_memory_credential_service import (
    InMemoryCredentialService,
)
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.input_validation_error import InputValidationError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.memory.in_memory_memory_service import InMemoryMemoryService
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.models.registry import LLMRegistry
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions.base_session_service import BaseSessionService, ListSessionsResponse
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.sessions.session import Session
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.tools.tool_confirmation import ToolConfirmation
from google.adk.tools.tool_context import ToolContext
from google.adk.version import __version__
from google.adk.workflow import BaseNode

from devui.runtime.plugins.base_plugin import BasePlugin as Instrument
from devui.worker.engines.kit import FrameReader, Kit
from devui.worker.state.actors import NamingAfterModel

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]

_announced: ContextVar[tuple[object, Any, "CallWrapper"] | None] = ContextVar(
    "devui_announced", default=None
)
"""The next call's request or tool context, the context of its callbacks, and the announcer."""


class CallWrapper(Instrument):
    """The last plugin: wraps calls in the instruments that have hooks around calls."""

    def __init__(self, instruments: Sequence[Instrument], compaction: Any = None) -> None:
        """`compaction`: the app's settings for summarizing old events; None without."""
        super().__init__("devui_call_wrapper")
        _wrap(BaseAgent, "run_async", _around_agent)
        if compaction is not None:
            own = compaction.summarizer
            for kind in {LlmEventSummarizer, *([] if own is None else [type(own)])}:
                _wrap(kind, "maybe_summarize_events", _around_summary)
            _summing[id(compaction)] = self
        self._compaction = compaction
        self._instruments = instruments
        self.set_disabled(())

    def set_disabled(self, names: Iterable[str]) -> None:
        """Disable the instruments with these names, and enable all others."""
        disabled = frozenset(names)
        enabled = [each for each in self._instruments if each.name not in disabled]
        self._agents, self._models, self._tools, self._summaries = (
            [
                getattr(each, hook)
                for each in reversed(enabled)
                if getattr(type(each), hook) is not getattr(Instrument, hook)
            ]
            for hook in ("around_agent", "around_model_call", "around_tool_call", "around_summary")
        )

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Announce that the model is called next, unless the agent's own callbacks answer."""
        agent = callback_context._invocation_context.agent
        _wrap(type(agent.canonical_model), "generate_content_async", _around_model)
        _announced.set((llm_request, callback_context, self))

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> None:
        """Announce that the tool is called next, unless the agent's own callbacks answer."""
        _wrap(type(tool), "run_async", _around_tool)
        _announced.set((tool_context, tool_context, self))

    def around_agents(self, proceed: Any, agent: Any, context: Any) -> AsyncGenerator[Any, None]:
        """Run an agent through all hooks and return its events."""
        for hook in self._agents:
            proceed = functools.partial(
                hook, agent=agent, invocation_context=context, proceed=proceed
            )
        events: AsyncGenerator[Any, None] = proceed()
        return events

    def around_models(
        self, proceed: Any, context: Any, request: Any, *, stream: bool
    ) -> AsyncGenerator[Any, None]:
        """Call a model through all hooks and return its responses."""
        for hook in self._models:
            proceed = functools.partial(
                _ask_through, hook, context=context, stream=stream, proceed=proceed
            )
        responses: AsyncGenerator[Any, None] = proceed(request)
        return responses

    async def around_tools(self, proceed: Any, tool: Any, args: Any, context: Any) -> Any:
        """Call a tool through all hooks and return its result."""
        for hook in self._tools:
            proceed = functools.partial(
                hook, tool=tool, tool_args=args, tool_context=context, proceed=proceed
            )
        return await proceed()

    def sums_up_by(self, summarizer: object) -> bool:
        """Return whether the summarizer is this app's; google-adk creates one if none is given."""
        return self._compaction.summarizer is summarizer

    async def around_summaries(self, proceed: Any, events: Any) -> Any:
        """Summarize old events through all hooks."""
        for hook in self._summaries:
            proceed = functools.partial(hook, events=events, proceed=proceed)
        return await proceed()


_summing: WeakValueDictionary[int, CallWrapper] = WeakValueDictionary()
"""Those of apps that summarize old events, by settings; for each app, its newest runner's."""


def _ask_through(hook: Any, request: Any, *, context: Any, stream: bool, proceed: Any) -> Any:
    return hook(callback_context=context, llm_request=request, stream=stream, proceed=proceed)


def _announcer(subject: object) -> tuple[Any, CallWrapper] | None:
    """Return the announced context and wrapper of this call, and forget them: they count once."""
    announced = _announced.get()
    if announced is None or announced[0] is not subject:
        return None
    _announced.set(None)
    return announced[1], announced[2]


def _wrap(owner: type, name: str, wrap: Wrap) -> None:
    """Wrap a method of exactly this class, once."""
    own = vars(owner).get(name)
    if not hasattr(own, "__devui_wrapped__"):
        wrapped = wrap(getattr(owner, name))
        vars(wrapped)["__devui_wrapped__"] = True
        setattr(owner, name, wrapped)


def _around_model(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def generate_content_async(self: Any, llm_request: Any, stream: bool = False) -> Any:
        if (announced := _announcer(llm_request)) is None:
            return method(self, llm_request, stream=stream)
        context, wrapper = announced

        def proceed(request: Any) -> AsyncGenerator[Any, None]:
            return _responses(method(self, request, stream=stream))

        return wrapper.around_models(proceed, context, llm_request, stream=stream)

    return generate_content_async


def _around_tool(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    async def run_async(self: Any, *, args: Any, tool_context: Any) -> Any:
        if (announced := _announcer(tool_context)) is None:
            return await method(self, args=args, tool_context=tool_context)

        async def proceed() -> Any:
            return await _result(method(self, args=args, tool_context=tool_context))

        return await announced[1].around_tools(proceed, self, args, tool_context)

    return run_async


def _around_summary(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    async def maybe_summarize_events(self: Any, *, events: Any) -> Any:
        proceed = functools.partial(method, self, events=events)
        for wrapper in [*_summing.values()]:
            if wrapper.sums_up_by(self):
                return await wrapper.around_summaries(proceed, events)
        return await proceed()

    return maybe_summarize_events


async def _responses(answers: Any) -> AsyncGenerator[Any, None]:
    """Yield the model's answers from a frame that shows that the call has reached the model."""
    async with aclosing(answers):
        async for answer in answers:
            yield answer


async def _result(result: Awaitable[Any]) -> Any:
    """Await the tool's result in a frame that shows that the call has reached the tool."""
    return await result


def _around_agent(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def run_async(self: Any, parent_context: Any) -> Any:
        proceed = functools.partial(method, self, parent_context)
        for wrapper in _wrappers_of(parent_context):
            return wrapper.around_agents(proceed, self, parent_context)
        return proceed()

    return run_async


def _wrappers_of(invocation: Any) -> Iterator[CallWrapper]:
    return (each for each in invocation.plugin_manager.plugins if isinstance(each, CallWrapper))


AGENT_CODE: Final = BaseAgent.run_async.__code__
MODEL_CODE: Final = _responses.__code__
TOOL_CODE: Final = _result.__code__
"""The code that runs agents and calls models and tools."""


_FOLDER: Final[str] = google.adk.__path__[0]
_FLOWS: Final = f"{_FOLDER}/flows/llm_flows"
_START: Final = "__START__"
"""The name of a graph's start node, which does nothing."""


class Chain:
    """The plugins of a google-adk Runner, with the worker's instruments among them."""

    def __init__(
        self,
        runner: Any,
        before: Sequence[Instrument],
        after: Sequence[Instrument],
        around: Sequence[Instrument],
    ) -> None:
        # The instruments have the hooks of google-adk's plugins. Registering them makes them pass
        # google-adk's class checks, such as for plugins that an AgentTool passes to its agent.
        BasePlugin.register(Instrument)
        self._manager = runner.plugin_manager
        instruments = [*before, *after, *around]
        self._wrapper = CallWrapper(instruments, runner.app and runner.app.events_compaction_config)
        self._before, self._after = [*before, NamingAfterModel()], [*after, self._wrapper]
        self.set_disabled(())

    def set_disabled(self, names: Iterable[str]) -> None:
        """Disable plugins, as in `PluginChain`."""
        disabled = frozenset(names)
        ours = {id(each) for each in (*self._before, *self._after)}
        own = [each for each in self._manager.plugins if id(each) not in ours]
        before, after = (
            [each for each in plugins if each.name not in disabled]
            for plugins in (self._before, self._after)
        )
        self._manager.plugins = [*before, *own, *after]
        self._wrapper.set_disabled(disabled)


def _runner(exported: Any, **services: Any) -> Any:
    if not hasattr(ReadonlyContext, "branch"):  # missing in google-adk 2.0
        ReadonlyContext.branch = property(lambda context: context._invocation_context.branch)
    kind = "agent" if isinstance(exported, BaseAgent) else "node"
    with warnings.catch_warnings():  # it warns of being experimental, as if the app had chosen it
        warnings.simplefilter("ignore")
        credentials = InMemoryCredentialService()
    return Runner(
        **{"app" if isinstance(exported, App) else kind: exported},
        credential_service=credentials,
        **services,
    )


def _chain(
    runner: Any,
    before: Sequence[Instrument],
    after: Sequence[Instrument],
    around: Sequence[Instrument],
) -> Chain:
    return Chain(runner, before, after, around)


def _run_config(*, streaming: bool, **settings: Any) -> Any:
    """Build the config without unset options, since older versions lack some."""
    mode = StreamingMode.SSE if streaming else StreamingMode.NONE
    options = {name: value for name, value in settings.items() if value is not None}
    return RunConfig(streaming_mode=mode, **options)


def _is_resumable(runner: Any) -> bool:
    config = runner.app.resumability_config
    return bool(config and config.is_resumable)


def _children(node: Any) -> Iterator[Any]:
    agents = getattr(node, "sub_agents", [])
    graph = getattr(node, "graph", None)
    yield from agents
    for each in graph.nodes if graph else ():
        if each.name != _START and not any(each is agent for agent in agents):
            yield each


def _invocation(runner: Any, **own: Any) -> Any:
    return InvocationContext(
        session_service=InMemorySessionService(),
        memory_service=InMemoryMemoryService(),
        credential_service=runner.credential_service,
        invocation_id=f"e-{uuid.uuid4()}",
        **own,
    )


def _tool_context(invocation: Any, call: str) -> Any:
    confirmed = ToolConfirmation(confirmed=True)
    return ToolContext(invocation, function_call_id=call, tool_confirmation=confirmed)


def _steers(tool: Any) -> bool:
    """Return whether the tool is an AgentTool, or one by which google-adk runs agents or nodes."""
    if isinstance(tool, AgentTool):
        return bool(getattr(tool, "include_plugins", True))
    return isinstance(tool, BaseTool) and type(tool).__name__ == "NodeTool"


def _agent_of(frame: FrameType) -> tuple[str, str | None] | None:
    if frame.f_code is not AGENT_CODE:
        return None
    local = frame.f_locals
    return str(local["self"].name), local["parent_context"].branch


def _check_commit(session: Any, event: Any) -> None:
    """Accept everything, as google-adk's services do."""


async def _memories(service: Any, app: str, user: str, limit: int) -> None:
    """Return None: google-adk's services can be searched, but not listed."""


KIT = Kit(
    name="google-adk",
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
    read_event=Event.model_validate_json,
    check_commit=_check_commit,
    run_config=_run_config,
    memories=_memories,
    new_model=LLMRegistry.new_llm,
    runner=_runner,
    chain=_chain,
    is_resumable=_is_resumable,
    children=_children,
    invocation=_invocation,
    tool_context=_tool_context,
    steers=_steers,
    frames=FrameReader(
        waits={},
        calls={"model": MODEL_CODE, "tool": TOOL_CODE},
        agent_of=_agent_of,
        folder=f"{_FOLDER}/",
        bookkeeping=(
            f"{_FLOWS}/tools/",
            f"{_FLOWS}/functions.py",
        ),
    ),
)
