"""Tracks which agent, callback or tool is executing, for each task of a run.

The hooks are those of plugins, so the runtime knows nothing of this (Law 6). Agents are identified
by a context variable, which their tasks and threads inherit; callbacks and tools by the context
they receive, whose state reports who uses it.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from devui.runtime.plugins.base_plugin import BasePlugin
from devui.worker.engines.kit import BaseAgent, BaseTool, Context, LlmRequest, LlmResponse
from devui.worker.state.live import DeltaView, LiveState, StateView


@dataclass(frozen=True, slots=True)
class Actor:
    """Who reads or writes the state."""

    agent: str
    branch: str | None = None
    tool: str | None = None
    call: str | None = None
    role: str = ""
    of_model: bool = False
    """Whether it is a callback of a model call."""

    def shares_delta(self, other: "Actor") -> bool:
        """Return whether both write to one delta: callbacks, and the tool, of one call."""
        of_one_call = self.call is not None or self.of_model
        return of_one_call and replace(self, role="") == replace(other, role="")


NOBODY = Actor("")
"""Code that belongs to no known agent: a plugin's or a workflow node's."""

_acting: ContextVar[tuple[Actor, ...]] = ContextVar("devui_acting", default=())


def current_actor() -> Actor:
    """Return the agent whose code is executing."""
    stack = _acting.get()
    return stack[-1] if stack else NOBODY


class Naming(BasePlugin):
    """Tracks which agent, callback or tool is executing; comes before all other plugins."""

    def __init__(self) -> None:
        super().__init__("devui_naming")

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: Context) -> None:
        """Note that the agent begins."""
        actor = Actor(agent.name, callback_context.branch)
        _acting.set((*_acting.get(), actor))
        _bind(callback_context, replace(actor, role="before_agent_callback"))

    async def after_agent_callback(self, *, agent: BaseAgent, callback_context: Context) -> None:
        """Note that the agent has ended, except for its callbacks."""
        actor = Actor(agent.name, callback_context.branch, role="after_agent_callback")
        _bind(callback_context, actor)
        _leave(agent.name)

    async def on_agent_error_callback(
        self, *, agent: BaseAgent, callback_context: Context, error: Exception
    ) -> None:
        """Note that the agent has failed."""
        _leave(agent.name)

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> None:
        """Note that callbacks before the model follow."""
        _bind(callback_context, _of_model(callback_context, "callback before the model"))

    def around_model_call(
        self,
        *,
        callback_context: Context,
        llm_request: LlmRequest,
        stream: bool,
        proceed: Callable[[LlmRequest], AsyncGenerator[LlmResponse, None]],
    ) -> AsyncGenerator[LlmResponse, None]:
        """Note that the model is called: any later access is by a callback after the model."""
        _bind(callback_context, _of_model(callback_context, "callback after the model"))
        return proceed(llm_request)

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context
    ) -> None:
        """Note that callbacks before the tool follow."""
        _bind(tool_context, _of_call(tool, tool_context, "before_tool_callback"))

    async def around_tool_call(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: Context,
        proceed: Callable[[], Awaitable[Any]],
    ) -> Any:
        """Note that the tool itself is called."""
        _bind_again(tool_context, _of_call(tool, tool_context))
        try:
            return await proceed()
        except Exception:
            # Not in `on_tool_error_callback`: plugins that define it count as handling the error.
            _bind_again(tool_context, _of_call(tool, tool_context, "on_tool_error_callback"))
            raise

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context, result: Any
    ) -> None:
        """Note that the tool has returned."""
        _bind_again(tool_context, _of_call(tool, tool_context, "after_tool_callback"))


class NamingAfterModel(BasePlugin):
    """Like `Naming`, for a runtime that gives callbacks after a model their own context."""

    def __init__(self) -> None:
        super().__init__("devui_naming_after_model")

    async def after_model_callback(
        self, *, callback_context: Context, llm_response: LlmResponse
    ) -> None:
        """Note that callbacks after the model follow."""
        _bind(callback_context, _of_model(callback_context, "callback after the model"))


def _leave(agent: str) -> None:
    """Return to the previous agent, and drop agents above it that ended without a callback."""
    stack = _acting.get()
    places = [place for place, actor in enumerate(stack) if actor.agent == agent]
    if places:
        _acting.set(stack[: places[-1]])


def _of_model(context: Context, role: str) -> Actor:
    """Return the actor for a callback of the current model call."""
    return Actor(context.agent_name, context.branch, role=role, of_model=True)


def _of_call(tool: BaseTool, context: Context, role: str = "") -> Actor:
    """Return the actor for a tool call, or for a callback of that call."""
    call = context.function_call_id
    return Actor(context.agent_name, context.branch, tool=tool.name, call=call, role=role)


def _bind(context: Context, actor: Actor) -> None:
    """Make the context's state report this actor."""
    live = context.session.state
    if isinstance(live, LiveState) and live.watcher.on:
        # Every `State`, even google-adk's, keeps the live state and the delta under these names.
        views: Any = context.state
        delta = views._delta
        delta = delta.delta if isinstance(delta, DeltaView) else delta
        views._value = StateView(live, actor)
        views._delta = DeltaView(delta, live.watcher, actor)


def _bind_again(context: Context, actor: Actor) -> None:
    """Change the actor of a context; one that was never bound, as in a workflow, stays unknown."""
    live = context.session.state
    is_watched = isinstance(live, LiveState) and live.watcher.on
    if is_watched and isinstance(context.state._value, StateView):
        _bind(context, actor)
