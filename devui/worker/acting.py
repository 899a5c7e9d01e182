"""Whose code is at work: the agent, and what of it, for each task of a run.

The hooks are those of plugins, so the runtime knows nothing of it (Law 6). Agents are known by a
context variable, which their tasks and threads inherit; callbacks and tools by the context they are
given, whose state is made to say who looks into it.
"""

from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.context import Context
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.tools.base_tool import BaseTool
from devui.worker.livestate import LiveState, StateView


@dataclass(frozen=True, slots=True)
class Actor:
    """Who reads or writes the state."""

    agent: str
    branch: str | None = None
    tool: str | None = None
    call: str | None = None
    role: str = ""


NOBODY = Actor("")
"""Code of no agent that is known: a plugin's, or a node's of a workflow."""

_acting: ContextVar[tuple[Actor, ...]] = ContextVar("devui_acting", default=())


def at_work() -> Actor:
    """The agent whose code is executing."""
    stack = _acting.get()
    return stack[-1] if stack else NOBODY


class Naming(BasePlugin):
    """Keeps in mind which agent, callback or tool is at work; comes before all other plugins."""

    def __init__(self) -> None:
        super().__init__("devui_naming")

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: Context) -> None:
        """The agent begins."""
        actor = Actor(agent.name, callback_context.branch)
        _acting.set((*_acting.get(), actor))
        _bind(callback_context, replace(actor, role="before_agent_callback"))

    async def after_agent_callback(self, *, agent: BaseAgent, callback_context: Context) -> None:
        """The agent has ended, but for its callbacks."""
        actor = Actor(agent.name, callback_context.branch, role="after_agent_callback")
        _bind(callback_context, actor)
        _leave(agent.name)

    async def on_agent_error_callback(
        self, *, agent: BaseAgent, callback_context: Context, error: Exception
    ) -> None:
        """The agent has failed."""
        _leave(agent.name)

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> None:
        """The model is about to be asked."""
        name, branch = callback_context.agent_name, callback_context.branch
        _bind(callback_context, Actor(name, branch, role="model callback"))

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context
    ) -> None:
        """The tool is about to be called."""
        name, branch = tool_context.agent_name, tool_context.branch
        call = tool_context.function_call_id
        _bind(tool_context, Actor(name, branch, tool=tool.name, call=call))


def _leave(agent: str) -> None:
    """Back to who was at work before; agents that ended without a word are left, too."""
    stack = _acting.get()
    places = [place for place, actor in enumerate(stack) if actor.agent == agent]
    if places:
        _acting.set(stack[: places[-1]])


def _bind(context: Context, actor: Actor) -> None:
    """Let the watcher know who looks through this context."""
    live = context.session.state
    if isinstance(live, LiveState) and live.watcher.on:
        # Every `State`, google-adk's too, keeps the live state under this name.
        context.state._value = StateView(live, actor)  # type: ignore[assignment]
