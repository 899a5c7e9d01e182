"""`DebugLoggingPlugin`: writes all that happens in a run into a file (adk-runtime 10.4)."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.plugins.debug_entries import (
    event_data,
    plain_content,
    request_data,
    response_data,
)
from devui.runtime.plugins.debug_file import DebugFile
from devui.runtime.plugins.masked_secrets import masked

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.context import Context
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.models.llm_response import LlmResponse
    from devui.runtime.tools.base_tool import BaseTool

_UNFINISHED = 100
"""How many documents are kept: a run that is cancelled comes to no end of which plugins hear."""


class DebugLoggingPlugin(BasePlugin):
    """Adds a YAML document for each invocation to a file, when it ends or fails.

    One that was left in the middle is written when a hundred others are unfinished, too, or the
    Runner is closed. Credentials are masked; the file still holds whole prompts and answers.
    """

    def __init__(
        self,
        *,
        name: str = "debug_logging_plugin",
        output_path: str = "adk_debug.yaml",
        include_session_state: bool = True,
        include_system_instruction: bool = True,
    ) -> None:
        """Name the file.

        Args:
            name: The plugin's name.
            output_path: The file; what it holds already stays.
            include_session_state: Write down the session's state at the end of each invocation.
            include_system_instruction: Write down system instructions, and not their lengths alone.
        """
        super().__init__(name)
        self._debug_file = DebugFile(Path(output_path))
        self._include_session_state = include_session_state
        self._include_system_instruction = include_system_instruction
        self._documents_by_invocation: dict[str, dict[str, Any]] = {}

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> None:
        """Begin a document with what the user said."""
        await _begin(self, invocation_context)
        _add(self, invocation_context, "user_message", content=plain_content(user_message))

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Write down that a run begins."""
        await _begin(self, invocation_context)
        agent, branch = invocation_context.agent, invocation_context.branch
        _add(
            self,
            invocation_context,
            "invocation_start",
            agent=agent.name if agent else None,
            branch=branch,
        )

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> None:
        """Write down what an agent yielded."""
        _add(self, invocation_context, "event", agent=event.author, **event_data(event))

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Write the document of a run that has ended."""
        if self._include_session_state:
            session = invocation_context.session
            _add(
                self,
                invocation_context,
                "session_state_snapshot",
                state=session.state,
                event_count=len(session.events),
            )
        _add(self, invocation_context, "invocation_end")
        await _write(self, invocation_context.invocation_id)

    async def on_run_error_callback(
        self, *, invocation_context: InvocationContext, error: Exception
    ) -> None:
        """Write the document of a run that has failed."""
        _add(self, invocation_context, "invocation_error", **_told(error))
        await _write(self, invocation_context.invocation_id)

    async def close(self) -> None:
        """Write what is left of runs that came to no end."""
        for invocation_id in list(self._documents_by_invocation):
            await _write(self, invocation_id)

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: Context) -> None:
        """Write down that an agent begins."""
        branch = callback_context.branch
        _add(self, callback_context, "agent_start", agent=agent.name, branch=branch)

    async def after_agent_callback(self, *, agent: BaseAgent, callback_context: Context) -> None:
        """Write down that an agent has ended."""
        _add(self, callback_context, "agent_end", agent=agent.name)

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> None:
        """Write down what a model is asked."""
        data = request_data(llm_request, instruction=self._include_system_instruction)
        _add(self, callback_context, "llm_request", agent=callback_context.agent_name, **data)

    async def after_model_callback(
        self, *, callback_context: Context, llm_response: LlmResponse
    ) -> None:
        """Write down what a model answered."""
        data = response_data(llm_response)
        _add(self, callback_context, "llm_response", agent=callback_context.agent_name, **data)

    async def on_model_error_callback(
        self, *, callback_context: Context, llm_request: LlmRequest, error: Exception
    ) -> None:
        """Write down what a model raised."""
        agent = callback_context.agent_name
        told = _told(error)
        _add(self, callback_context, "llm_error", agent=agent, model=llm_request.model, **told)

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context
    ) -> None:
        """Write down what a tool is called with."""
        _add_call(self, "tool_call", tool, tool_context, args=tool_args)

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context, result: Any
    ) -> None:
        """Write down what a tool returned."""
        _add_call(self, "tool_response", tool, tool_context, result=result)

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context, error: Exception
    ) -> None:
        """Write down what a tool raised."""
        _add_call(self, "tool_error", tool, tool_context, args=tool_args, **_told(error))


async def _write(plugin: DebugLoggingPlugin, invocation_id: str) -> None:
    document = plugin._documents_by_invocation.pop(invocation_id, None)
    if document is not None:
        await asyncio.to_thread(plugin._debug_file.append, document)


def _add(
    plugin: DebugLoggingPlugin,
    ctx: InvocationContext | Context,
    kind: str,
    *,
    agent: str | None = None,
    **data: Any,
) -> None:
    """Add an entry, which is plain at once: what it tells of may change."""
    document = plugin._documents_by_invocation.get(ctx.invocation_id)
    if document is None:  # the run has ended: what is left of it ends behind it
        return
    told = {key: value for key, value in data.items() if value is not None}
    entry = {
        "timestamp": _now(),
        "entry_type": kind,
        "invocation_id": ctx.invocation_id,
        "agent_name": agent,
        "data": masked(told),
    }
    document["entries"].append({key: each for key, each in entry.items() if each is not None})


def _add_call(
    plugin: DebugLoggingPlugin, kind: str, tool: BaseTool, tool_context: Context, **data: Any
) -> None:
    names = {"tool_name": tool.name, "function_call_id": tool_context.function_call_id}
    _add(plugin, tool_context, kind, agent=tool_context.agent_name, **names, **data)


async def _begin(plugin: DebugLoggingPlugin, ctx: InvocationContext) -> None:
    """Begin the document of an invocation, unless it has begun."""
    session = ctx.session
    plugin._documents_by_invocation.setdefault(
        ctx.invocation_id,
        {
            "invocation_id": ctx.invocation_id,
            "session_id": session.id,
            "app_name": session.app_name,
            "user_id": ctx.user_id,
            "start_time": _now(),
            "entries": [],
        },
    )
    if len(plugin._documents_by_invocation) > _UNFINISHED:
        await _write(plugin, next(iter(plugin._documents_by_invocation)))


def _told(error: Exception) -> dict[str, str]:
    return {"error_type": type(error).__name__, "error_message": str(error)}


def _now() -> str:
    return datetime.now().astimezone().isoformat()
