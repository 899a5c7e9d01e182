"""One tool call, with the callbacks around it (adk-runtime 6.5, 8.3)."""

from __future__ import annotations

import asyncio
import json
import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.agents.context import Context
from devui.runtime.agents.open_calls import FAILED_CALL
from devui.runtime.callbacks import first_result, is_not_none
from devui.runtime.cancellation import check_cancelled
from devui.runtime.copying import json_copy
from devui.runtime.flows.llm_flows.processors import agent_of
from devui.runtime.flows.llm_flows.tool_results import as_response, response_part
from devui.runtime.mistakes import note_on_await, note_on_names
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.confirmation_gate import withheld
from devui.runtime.workflow.errors import DynamicNodeFailError, NodeInterruptedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event_actions import EventActions
    from devui.runtime.events.tool_confirmation import ToolConfirmation


logger = logging.getLogger(__name__)

_UNNAMED = "<unnamed>"
"""The name of the tool of a call without one: services refuse responses that have none."""


class ToolCall:
    """The execution of one function call of a model.

    Plugins are asked before the agent's own callbacks, and a plugin that answers
    keeps the agent's from being asked.
    """

    def __init__(
        self,
        ctx: InvocationContext,
        call: types.FunctionCall,
        tools: Mapping[str, BaseTool],
        confirmation: ToolConfirmation | None = None,
    ) -> None:
        self._ctx = ctx
        self._plugins = ctx.plugin_manager
        self._agent = agent_of(ctx)
        self._call = call
        self._known = list(tools)
        self._tool = tools.get(call.name or "")
        # A callback may change the arguments; the event that holds the call must not change.
        self._args: dict[str, Any] = json_copy(call.args) if call.args else {}
        self._context = Context(ctx, function_call_id=call.id, tool_confirmation=confirmation)
        self.spoken: types.Part | None = None
        """The result as text to read, if the tool speaks to the user and its answer is the last."""

    @property
    def name(self) -> str:
        """The name of the tool, as the model gave it."""
        return self._call.name or ""

    @property
    def actions(self) -> EventActions:
        """What the tool and its callbacks changed."""
        return self._context.actions

    async def run(self) -> types.Part | None:
        """The function response; None if a long-running tool has none yet.

        Raises:
            Exception: what the tool raised, unless a callback answered in its place;
                and what a callback raised.
        """
        if self._tool is None:
            unknown = _UnknownTool(self._call.name or _UNNAMED)
            return response_part(self._call, unknown, await self._run_unknown(unknown))
        tool = self._tool
        instead = (
            await self._before(tool)
            if self._plugins.has("before_tool_callback", self._agent)
            else None
        )
        try:
            result = await self._run_guarded(tool) if instead is None else instead
        except NodeInterruptedError:  # a node that the tool runs waits for an answer
            self._leave_open()
            return None
        if result is None and tool.defers_response:
            self._leave_open()
            return None
        if self._plugins.has("after_tool_callback", self._agent):
            replaced = await self._after(tool, result)
            result = result if replaced is None else replaced
        if not result and (tool.is_long_running or (tool.defers_response and instead is None)):
            return None
        part = response_part(self._call, tool, result)
        self.spoken = self._spoken(tool, result)
        return part

    def _leave_open(self) -> None:
        """End the run behind this answer: the call goes on when what it waits for is there."""
        self._ctx.delegating = True

    async def _run_unknown(self, tool: BaseTool) -> Any:
        """Callbacks may still answer for a tool that the agent does not have."""
        result = await self._before(tool)
        if result is not None:
            replaced = await self._after(tool, result)
            return result if replaced is None else replaced
        error = ValueError(
            f"There is no tool {tool.name!r}. The tools are: {', '.join(self._known) or 'none'}."
        )
        result = await self._on_error(tool, error)
        return {"error": str(error)} if result is None else result

    async def _run_guarded(self, tool: BaseTool) -> Any:
        try:
            return await self._perform(tool)
        except Exception as error:  # whatever users' tools raise, callbacks may answer for it
            if isinstance(error, TypeError):
                note_on_await(error, tool.run_async)
                note_on_names(error, tool.run_async, "args", "tool_context")
            result = await self._on_error(tool, error)
            if result is None:
                if tool.is_long_running:  # else nobody could tell it from one that is waited for
                    vars(error)[FAILED_CALL] = self._call.id
                raise
            return result

    async def _perform(self, tool: BaseTool) -> Any:
        try:
            instead = await withheld(tool, self._args, self._context)
            if instead is not None:
                return instead
            return await self._plugins.around_tool_call(
                tool,
                self._args,
                self._context,
                partial(tool.run_async, args=self._args, tool_context=self._context),
            )
        except DynamicNodeFailError as error:
            raise error.error from error  # of a node that the tool has run
        except asyncio.CancelledError as cancelled:
            check_cancelled(cancelled, f"Tool {tool.name!r}")
            await self._tell_of_cancellation(tool, cancelled)
            raise

    async def _tell_of_cancellation(self, tool: BaseTool, cancelled: BaseException) -> None:
        """Let callbacks put away what they had prepared; nobody can answer for the call now."""
        told: dict[str, Any] = {"tool": tool, "tool_context": self._context, "error": cancelled}
        await self._plugins.run_on_tool_cancelled(tool_args=self._args, **told)
        for callback in self._agent.canonical_on_tool_error_callbacks:
            try:
                await first_result([callback], is_not_none, args=self._args, **told)
            except Exception:
                logger.exception("An on_tool_error_callback raised while its tool was cancelled.")

    async def _before(self, tool: BaseTool) -> Any:
        result = await self._plugins.run_before_tool_callback(
            tool=tool, tool_args=self._args, tool_context=self._context
        )
        if result is not None:
            return result
        callbacks = self._agent.canonical_before_tool_callbacks
        if not callbacks:
            return None
        return await first_result(
            callbacks, is_not_none, tool=tool, args=self._args, tool_context=self._context
        )

    async def _after(self, tool: BaseTool, result: Any) -> Any:
        replaced = await self._plugins.run_after_tool_callback(
            tool=tool, tool_args=self._args, tool_context=self._context, result=result
        )
        if replaced is not None:
            return replaced
        callbacks = self._agent.canonical_after_tool_callbacks
        if not callbacks:
            return None
        return await first_result(
            callbacks,
            is_not_none,
            tool=tool,
            args=self._args,
            tool_context=self._context,
            tool_response=result,
        )

    async def _on_error(self, tool: BaseTool, error: Exception) -> Any:
        result = await self._plugins.run_on_tool_error_callback(
            tool=tool, tool_args=self._args, tool_context=self._context, error=error
        )
        if result is not None:
            return result
        return await first_result(
            self._agent.canonical_on_tool_error_callbacks,
            is_not_none,
            tool=tool,
            args=self._args,
            tool_context=self._context,
            error=error,
        )

    def _spoken(self, tool: BaseTool, result: Any) -> types.Part | None:
        if not tool.speaks_to_user or not self.actions.skip_summarization or not result:
            return None
        text = result if isinstance(result, str) else json.dumps(as_response(result))
        return types.Part(text=text)


class _UnknownTool(BaseTool):
    """Stands in callbacks for a tool that the model made up."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, description="The agent has no such tool.")
