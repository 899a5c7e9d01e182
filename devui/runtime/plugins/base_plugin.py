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
    kind are skipped. Falsy values of the hooks before and after agents and models skip only later
    plugins; values of a wrong type raise TypeError. A hook that raises ends the run with a
    RuntimeError. The `on_…_error` hooks for agent and run can't answer; their exceptions are
    logged.
    """

    def __init__(self, name: str) -> None:
        """Set the plugin's name, which must be unique in an app."""
        self.name = name

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> types.Content | None:
        """Called before the user's message is committed; a result replaces it."""

    async def before_run_callback(
        self, *, invocation_context: InvocationContext
    ) -> types.Content | None:
        """Called before the agent runs; a result becomes the answer and the agent is skipped."""

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> Event | None:
        """Called when an agent yields `event`, before its commit; a result replaces it."""

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Called when the run has ended without an exception."""

    async def close(self) -> None:
        """Clean up when the Runner is closed."""

    async def before_agent_callback(
        self, *, agent: BaseAgent, callback_context: Context
    ) -> types.Content | None:
        """Called before an agent; a result becomes its answer and the agent is skipped."""

    async def after_agent_callback(
        self, *, agent: BaseAgent, callback_context: Context
    ) -> types.Content | None:
        """Called after an agent; a result becomes one more answer."""

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Called before a model call; a result becomes the answer and the call is skipped."""

    async def after_model_callback(
        self, *, callback_context: Context, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Called after each answer or fragment of a model; a result replaces it."""

    async def on_model_error_callback(
        self, *, callback_context: Context, llm_request: LlmRequest, error: Exception
    ) -> LlmResponse | None:
        """Called when the model raises; a result becomes its answer."""

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context
    ) -> dict[str, Any] | None:
        """Called before a tool; if it returns a result, the tool is skipped."""

    async def after_tool_callback(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: Context,
        result: dict[str, Any],
    ) -> dict[str, Any] | None:
        """Called after a tool; a result replaces the tool's own."""

    async def on_tool_error_callback(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: Context,
        error: Exception,
    ) -> dict[str, Any] | None:
        """Called when the tool raises; a result is used as the tool's."""

    async def on_agent_error_callback(
        self, *, agent: BaseAgent, callback_context: Context, error: Exception
    ) -> None:
        """Called when an exception leaves the agent."""

    async def on_run_error_callback(
        self, *, invocation_context: InvocationContext, error: Exception
    ) -> None:
        """Called when an exception leaves the run."""

    # google-adk doesn't have the following hooks: its plugins see a call before the agent's own
    # callbacks do, and never the call itself (decisions/0009).

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
        """Call the model, after all callbacks for the request and before those for its responses.

        Yield the responses of `proceed(llm_request)`, or others; `stream` says whether fragments
        are wanted.
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
        """Run the tool, once its call is confirmed and all callbacks have seen the arguments.

        Return the result of `proceed()`, or another; the tool's exceptions pass through here.
        """
        return await proceed()

    async def around_summary(
        self, *, events: list[Event], proceed: Callable[[], Awaitable[Event | None]]
    ) -> Event | None:
        """Summarize old events: return the summary of `proceed()`, another one, or None."""
        return await proceed()
