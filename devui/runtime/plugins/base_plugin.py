"""`BasePlugin`: hooks that see every agent, model and tool of an app (adk-runtime 10.4)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.context import Context
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.models.llm_response import LlmResponse
    from devui.runtime.tools.base_tool import BaseTool


class BasePlugin:
    """Base class of plugins: override the hooks you need. The run waits until a hook returns.

    If a hook returns a value other than None, later plugins and the agent's own callbacks of that
    kind are skipped. Before and after agents and models, falsy values are ignored, and values of
    another type raise TypeError. A hook that raises ends the run with a RuntimeError. The
    `on_…_error` hooks for agent and run are only notified; exceptions in them are logged.
    """

    def __init__(self, name: str) -> None:
        """`name` is unique among the plugins of an app."""
        self.name = name

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> types.Content | None:
        """Before the user's message is committed; a result replaces it."""

    async def before_run_callback(
        self, *, invocation_context: InvocationContext
    ) -> types.Content | None:
        """Before the agent runs; a result becomes the answer and the agent is skipped."""

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> Event | None:
        """An agent yielded `event`, which is not committed yet; a result replaces it."""

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """The run ended without an exception."""

    async def close(self) -> None:
        """The Runner is closed."""

    async def before_agent_callback(
        self, *, agent: BaseAgent, callback_context: Context
    ) -> types.Content | None:
        """Before an agent; a result becomes its answer and the agent is skipped."""

    async def after_agent_callback(
        self, *, agent: BaseAgent, callback_context: Context
    ) -> types.Content | None:
        """After an agent; a result becomes one more answer."""

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Before a model call; a result stands for the model's answer."""

    async def after_model_callback(
        self, *, callback_context: Context, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """After each answer or fragment of a model; a result replaces it."""

    async def on_model_error_callback(
        self, *, callback_context: Context, llm_request: LlmRequest, error: Exception
    ) -> LlmResponse | None:
        """The model raised; a result stands for its answer."""

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context
    ) -> dict[str, Any] | None:
        """Before a tool; a result stands for the tool's."""

    async def after_tool_callback(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: Context,
        result: dict[str, Any],
    ) -> dict[str, Any] | None:
        """After a tool; a result replaces the tool's."""

    async def on_tool_error_callback(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: Context,
        error: Exception,
    ) -> dict[str, Any] | None:
        """The tool raised; a result stands for its own."""

    async def on_agent_error_callback(
        self, *, agent: BaseAgent, callback_context: Context, error: Exception
    ) -> None:
        """An exception leaves the agent."""

    async def on_run_error_callback(
        self, *, invocation_context: InvocationContext, error: Exception
    ) -> None:
        """An exception leaves the run."""

    # What follows is not in google-adk: there a plugin sees a call before the agent's own
    # callbacks have had their say, and never the call itself (decisions/0009).

    def around_agent(
        self,
        *,
        agent: BaseAgent,
        invocation_context: InvocationContext,
        proceed: Callable[[], AsyncGenerator[Event, None]],
    ) -> AsyncGenerator[Event, None]:
        """Run the agent, callbacks included: yield the events of `proceed()`, or others."""
        return proceed()

    def around_model_call(
        self,
        *,
        callback_context: Context,
        llm_request: LlmRequest,
        stream: bool,
        proceed: Callable[[LlmRequest], AsyncGenerator[LlmResponse, None]],
    ) -> AsyncGenerator[LlmResponse, None]:
        """Ask the model: all callbacks have seen the request, none has seen the responses.

        Yield those of `proceed(llm_request)`, or others; `stream` says whether fragments are
        wanted.
        """
        return proceed(llm_request)

    async def around_tool_call(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: Context,
        proceed: Callable[[], Awaitable[Any]],
    ) -> Any:
        """Run the tool: its call is confirmed, and all callbacks have seen the arguments.

        Return what `proceed()` does, or something else; a tool's exceptions pass here.
        """
        return await proceed()

    async def around_summary(
        self, *, events: list[Event], proceed: Callable[[], Awaitable[Event | None]]
    ) -> Event | None:
        """Sum up old events: return what `proceed()` does, another summary, or None."""
        return await proceed()
