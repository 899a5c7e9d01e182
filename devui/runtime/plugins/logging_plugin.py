"""`LoggingPlugin`: prints what happens in a run to the terminal (adk-runtime 10.4)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from devui.runtime.plugins.base_plugin import BasePlugin

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.context import Context
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.models.llm_response import LlmResponse
    from devui.runtime.tools.base_tool import BaseTool

_LONGEST = 200


class LoggingPlugin(BasePlugin):
    """Prints one line per hook, and changes nothing."""

    def __init__(self, name: str = "logging_plugin") -> None:
        super().__init__(name)

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> None:
        """Log the user's message with its session."""
        ctx = invocation_context
        _tell(
            self,
            "user message",
            _content(user_message),
            app=ctx.app_name,
            user=ctx.user_id,
            session=ctx.session.id,
            invocation=ctx.invocation_id,
        )

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Log the start of a run."""
        agent = invocation_context.agent
        name = agent.name if agent else None
        _tell(self, "run begins", invocation=invocation_context.invocation_id, agent=name)

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> None:
        """Log an event."""
        _tell(
            self,
            "event",
            _content(event.content),
            author=event.author,
            id=event.id,
            partial=event.partial,
            final=event.is_final_response() or None,
            error=event.error_code,
            state=sorted(event.actions.state_delta) or None,
            artifacts=sorted(event.actions.artifact_delta) or None,
            transfer=event.actions.transfer_to_agent,
            escalate=event.actions.escalate,
        )

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Log the end of a run."""
        _tell(self, "run ends", invocation=invocation_context.invocation_id)

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: Context) -> None:
        """Log the start of an agent."""
        _tell(self, "agent begins", agent=agent.name, branch=callback_context.branch)

    async def after_agent_callback(self, *, agent: BaseAgent, callback_context: Context) -> None:
        """Log the end of an agent."""
        _tell(self, "agent ends", agent=agent.name)

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> None:
        """Log a request to a model."""
        last = llm_request.contents[-1] if llm_request.contents else None
        _tell(
            self,
            "model request",
            _content(last),
            agent=callback_context.agent_name,
            model=llm_request.model,
            contents=len(llm_request.contents),
            tools=sorted(llm_request.tools_dict) or None,
            instruction=_cut(str(llm_request.config.system_instruction or "")) or None,
        )

    async def after_model_callback(
        self, *, callback_context: Context, llm_response: LlmResponse
    ) -> None:
        """Log a model's response."""
        usage = llm_response.usage_metadata
        _tell(
            self,
            "model response",
            _content(llm_response.content),
            agent=callback_context.agent_name,
            partial=llm_response.partial,
            finished=llm_response.finish_reason,
            error=llm_response.error_code,
            prompt_tokens=usage.prompt_token_count if usage else None,
            answer_tokens=usage.candidates_token_count if usage else None,
        )

    async def on_model_error_callback(
        self, *, callback_context: Context, llm_request: LlmRequest, error: Exception
    ) -> None:
        """Log a model's exception."""
        _tell(self, "model error", repr(error), agent=callback_context.agent_name)

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context
    ) -> None:
        """Log a tool's arguments."""
        call_id = tool_context.function_call_id
        _tell(self, "tool call", str(tool_args), tool=tool.name, call=call_id)

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context, result: Any
    ) -> None:
        """Log a tool's result."""
        call_id = tool_context.function_call_id
        _tell(self, "tool result", str(result), tool=tool.name, call=call_id)

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context, error: Exception
    ) -> None:
        """Log a tool's exception."""
        call_id = tool_context.function_call_id
        _tell(self, "tool error", repr(error), tool=tool.name, call=call_id)


def _tell(plugin: LoggingPlugin, what: str, text: str = "", **facts: object) -> None:
    details = "".join(f" {key}={value}" for key, value in facts.items() if value is not None)
    suffix = f": {_cut(text)}" if text else ""
    sys.stdout.write(f"[{plugin.name}] {what}{details}{suffix}\n")


def _content(content: types.Content | None) -> str:
    return " | ".join(_part(part) for part in (content.parts if content else None) or [])


def _part(part: types.Part) -> str:
    if part.text is not None:
        return f"(thought) {part.text}" if part.thought else part.text
    if part.function_call:
        return f"{part.function_call.name}({part.function_call.args})"
    if part.function_response:
        return f"{part.function_response.name} -> {part.function_response.response}"
    return f"({', '.join(sorted(part.model_fields_set)) or 'nothing'})"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
