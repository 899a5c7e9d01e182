"""One tool call, with the callbacks around it (adk-runtime 6.5, 8.3)."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from google.genai import types
from pydantic_core import to_jsonable_python

from devui.runtime.agents.context import Context
from devui.runtime.agents.invocation_events import FAILED_CALL
from devui.runtime.calling import first_result, is_not_none
from devui.runtime.cancellation import check_cancelled
from devui.runtime.copying import copy_with, json_copy
from devui.runtime.flows.llm_flows.processors import agent_of
from devui.runtime.jsonable import sendable, walked
from devui.runtime.mistakes import brief, note_on_await, note_on_names, place
from devui.runtime.telemetry.switch import instruments
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.confirmation_gate import withheld
from devui.runtime.tools.function_tool import FunctionTool
from devui.runtime.workflow.errors import DynamicNodeFailError, NodeInterruptedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event_actions import EventActions, ToolConfirmation
    from devui.runtime.telemetry.tools import ToolSpan


# Turns a tool's result into its function response (adk-runtime 8.2).


_RESPONSE = types.FunctionResponse()
_PART = types.Part()
_SCALARS = (str, int, float, type(None))
"""The types of most values, checked first because checking for a Part takes far longer."""
_CONTAINERS = (dict, list, tuple)
_MAY_HOLD_MEDIA = (types.Part, *_CONTAINERS)
_MEDIA_DEPTH = 1
"""How many containers deep to search a result for media."""


def response_part(call: types.FunctionCall, tool: BaseTool, result: Any) -> types.Part:
    """Build the response to a call: media go beside it, and the rest is converted to JSON."""
    rest, media = _without_media(result)
    # The values are known to be valid, so google-genai's costly validation is skipped.
    try:
        value = as_response(rest)
    except (ValueError, TypeError) as error:
        where = place(_code_of(tool))
        error.add_note(f"Tool {tool.name!r} returned {_culprit(error)}: {where}.")
        raise
    response = copy_with(_RESPONSE, id=call.id, name=call.name or tool.name, response=value)
    if media:
        response.parts = media
    if tool.response_scheduling is not None:
        response.scheduling = tool.response_scheduling
    return copy_with(_PART, function_response=response)


def _code_of(tool: BaseTool) -> Callable[..., Any]:
    return tool.func if isinstance(tool, FunctionTool) else tool.run_async


def _culprit(error: Exception) -> str:
    """Describe what the tool returned, judging by the error it caused."""
    if isinstance(error, TypeError):
        return "it"
    if "depth" in str(error):
        return "a value that is nested more than 250 levels deep; flatten it"
    return "a value that contains itself, which JSON can't represent"


def as_response(result: Any) -> dict[str, Any]:
    """Return the result in the form of JSON, a dict as it is and anything else under `result`.

    What JSON can't represent becomes its repr, so that one odd value doesn't cost the event.
    Pydantic models lose fields that are None, as in the event itself, and keep their field names.

    Raises:
        ValueError: The result contains itself, or is nested too deeply.
        TypeError: The result contains something that nobody has awaited.
    """
    response = result if isinstance(result, dict) else {"result": result}
    try:
        jsonable: dict[str, Any] = _in_json(response)
    except UnicodeEncodeError:  # raised only for lone surrogates in keys
        jsonable = walked(response, _in_json, sendable)
    return jsonable


def _in_json(value: Any) -> Any:
    return to_jsonable_python(
        value, fallback=_repr, bytes_mode="base64", exclude_none=True, by_alias=False
    )


def _repr(value: object) -> Any:
    """Return the repr of a value that JSON doesn't know.

    Raises:
        TypeError: Nobody has awaited or iterated it, and its repr would be useless to a model.
    """
    if inspect.iscoroutine(value) or isinstance(value, asyncio.Future):
        if inspect.iscoroutine(value):
            value.close()
        raise TypeError(
            f"The result contains {brief(value)} that was never awaited: put `await` before it,"
            " inside an `async def` function."
        )
    if inspect.isasyncgen(value):
        raise TypeError(
            f"The result contains {brief(value)} that was never iterated: iterate it with"
            " `async for`, inside an `async def` function."
        )
    return to_jsonable_python(value, serialize_unknown=True)


def _without_media(result: Any, depth: int = 0) -> tuple[Any, list[types.FunctionResponsePart]]:
    """Split a result into what is left without media (pictures, sounds, files), and the media.

    Containers that held nothing else are left out, too.
    """
    if not isinstance(result, _CONTAINERS):
        medium = as_media(result) if isinstance(result, types.Part) else None
        return ({}, [medium]) if medium else (result, [])
    if depth > _MEDIA_DEPTH:
        return result, []
    entries = result.items() if isinstance(result, dict) else enumerate(result)
    all_media: list[types.FunctionResponsePart] = []
    remaining = {}
    for key, value in entries:
        if isinstance(value, _SCALARS) or not isinstance(value, _MAY_HOLD_MEDIA):
            remaining[key] = value
            continue
        rest, media = _without_media(value, depth + 1)
        all_media += media
        if rest or not media:
            remaining[key] = rest
    if not all_media:
        return result, []
    return (remaining if isinstance(result, dict) else list(remaining.values())) or {}, all_media


def as_media(part: types.Part) -> types.FunctionResponsePart | None:
    """Return the part in the form that goes beside a function response; None if it isn't media."""
    blob, file = part.inline_data, part.file_data
    if blob and blob.data is not None and blob.mime_type:
        return types.FunctionResponsePart.from_bytes(data=blob.data, mime_type=blob.mime_type)
    if file and file.file_uri and file.mime_type:
        return types.FunctionResponsePart.from_uri(file_uri=file.file_uri, mime_type=file.mime_type)
    return None


logger = logging.getLogger(__name__)

_UNNAMED = "<unnamed>"
"""The name used if a call has none: services refuse responses without a tool name."""


class ToolCall:
    """The execution of one function call of a model.

    Plugins are asked before the agent's own callbacks, which are skipped if a plugin answers.
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
        self._tool_names = list(tools)
        self._tool = tools.get(call.name or "")
        # A callback may change the arguments; the event that holds the call must not change.
        self._args: dict[str, Any] = json_copy(call.args) if call.args else {}
        self._context = Context(ctx, function_call_id=call.id, tool_confirmation=confirmation)
        self.spoken_part: types.Part | None = None
        """The result as text, if the tool speaks to the user and its answer is the last."""
        self.span: ToolSpan | None = None
        """The call's span, if one is recorded."""

    @property
    def name(self) -> str:
        """The name of the tool, as the model gave it."""
        return self._call.name or ""

    @property
    def actions(self) -> EventActions:
        """What the tool and its callbacks changed."""
        return self._context.actions

    async def run(self) -> types.Part | None:
        """Return the function response; None if a long-running tool has none yet.

        Raises:
            Exception: What the tool raised, unless a callback answered instead; and what a
                callback raised.
        """
        spans = instruments()
        if spans is None:
            return await self._run()
        tool = self._tool or _unknown_tool(self._call.name or _UNNAMED)
        self.span = spans.tool(self._ctx, tool, self._args)
        return await self.span.over(self._run)

    async def _run(self) -> types.Part | None:
        if self._tool is None:
            unknown = _unknown_tool(self._call.name or _UNNAMED)
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
            replacement = await self._after(tool, result)
            result = result if replacement is None else replacement
        if not result and (tool.is_long_running or (tool.defers_response and instead is None)):
            return None
        part = response_part(self._call, tool, result)
        self.spoken_part = self._part_for_user(tool, result)
        return part

    def _leave_open(self) -> None:
        """End the run after this answer; the call continues once what it waits for arrives."""
        self._ctx.delegating = True

    async def _run_unknown(self, tool: BaseTool) -> Any:
        """Let callbacks answer for a tool that the agent lacks, or report that to the model."""
        result = await self._before(tool)
        if result is not None:
            replacement = await self._after(tool, result)
            return result if replacement is None else replacement
        error = ValueError(
            f"There is no tool {tool.name!r}. The tools are:"
            f" {', '.join(self._tool_names) or 'none'}."
        )
        result = await self._on_error(tool, error)
        if result is None and self.span is not None:
            self.span.failure = type(error).__name__
        return {"error": str(error)} if result is None else result

    async def _run_guarded(self, tool: BaseTool) -> Any:
        try:
            return await self._perform(tool)
        except Exception as error:  # callbacks may answer for any error of a tool
            if isinstance(error, TypeError):
                note_on_await(error, tool.run_async)
                note_on_names(error, tool.run_async, "args", "tool_context")
            result = await self._on_error(tool, error)
            if result is None:
                if tool.is_long_running:  # else it would look like a call that still waits
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
            raise error.error from error  # raised by a node that the tool ran
        except asyncio.CancelledError as cancelled:
            check_cancelled(cancelled, f"Tool {tool.name!r}")
            await self._tell_of_cancellation(tool, cancelled)
            raise

    async def _tell_of_cancellation(self, tool: BaseTool, cancelled: BaseException) -> None:
        """Let callbacks release what they had prepared; the call can no longer be answered."""
        facts: dict[str, Any] = {"tool": tool, "tool_context": self._context, "error": cancelled}
        await self._plugins.run_on_tool_cancelled(tool_args=self._args, **facts)
        for callback in self._agent.canonical_on_tool_error_callbacks:
            try:
                await first_result([callback], is_not_none, args=self._args, **facts)
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
        replacement = await self._plugins.run_after_tool_callback(
            tool=tool, tool_args=self._args, tool_context=self._context, result=result
        )
        if replacement is not None:
            return replacement
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

    def _part_for_user(self, tool: BaseTool, result: Any) -> types.Part | None:
        if not tool.speaks_to_user or not self.actions.skip_summarization or not result:
            return None
        text = result if isinstance(result, str) else json.dumps(as_response(result))
        return types.Part(text=text)


def _unknown_tool(name: str) -> BaseTool:
    """Create the tool that callbacks get if the model made up a name."""
    return BaseTool(name=name, description="The agent has no such tool.")
