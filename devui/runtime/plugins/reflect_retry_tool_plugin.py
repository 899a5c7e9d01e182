"""`ReflectAndRetryToolPlugin`: lets a model correct a failed tool call (adk-runtime 10.4)."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict
from enum import Enum
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from devui.runtime.mistakes import brief
from devui.runtime.plugins.base_plugin import BasePlugin

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.tools.base_tool import BaseTool


# Counts of consecutive failures, which limit a model's retries (adk-runtime 10.4).


REFLECT_AND_RETRY_RESPONSE_TYPE = "ERROR_HANDLED_BY_REFLECT_AND_RETRY_PLUGIN"
"""Marks what one of the retry plugins wrote in place of a failure."""

_GLOBAL = "__global_reflect_and_retry_scope__"
_SCOPES_KEPT = 1000


class TrackingScope(Enum):
    """Whether failures are counted per invocation or across all of them."""

    INVOCATION = "invocation"
    GLOBAL = "global"

    def key(self, invocation_id: str) -> str:
        """Return the key under which this invocation's failures are counted."""
        return invocation_id if self is TrackingScope.INVOCATION else _GLOBAL


class FailureCounts:
    """Counts of failures by scope and by name of what failed; old scopes are dropped."""

    def __init__(self) -> None:
        self._scopes: OrderedDict[str, Counter[str]] = OrderedDict()

    def add(self, scope: str, name: str) -> int:
        """Count a failure, and return the number of consecutive ones."""
        counter = self._scopes.setdefault(scope, Counter())
        counter[name] += 1
        if len(self._scopes) > _SCOPES_KEPT:
            self._scopes.popitem(last=False)
        return counter[name]

    def forget(self, scope: str, name: str) -> None:
        """Reset the count after a success."""
        if scope in self._scopes:
            self._scopes[scope].pop(name, None)


_RETRY = (
    "This was failure {count} of {limit} that are allowed. Do not repeat the same call. Look at"
    " the error and at your arguments: are they complete, and of the types that the tool"
    " declares? Did an earlier step leave out what this one needs? Would another tool, or smaller"
    " steps, do better? Then try again in a better way."
)
_GIVE_UP = (
    "Do not call `{tool}` again for this task: it has failed too often. Find another way, with"
    " other tools, or tell the user what cannot be done and why."
)


class ToolFailureResponse(BaseModel):
    """The response that a model gets in place of a failed tool's result."""

    response_type: str = REFLECT_AND_RETRY_RESPONSE_TYPE
    """Marks the response as the plugin's."""
    error_type: str = ""
    """The class of the error."""
    error_details: str = ""
    """What the error says."""
    retry_count: int = 0
    """The number of consecutive failures, but at most `max_retries`."""
    reflection_guidance: str = ""
    """What the model should do."""


class ReflectAndRetryToolPlugin(BasePlugin):
    """Answers for tools that raise, so that the model can reconsider and try again.

    Failures are counted for each tool until it succeeds. After `max_retries` consecutive failures,
    one more ends the run, or the model is told to give up.
    """

    def __init__(
        self,
        name: str = "reflect_retry_tool_plugin",
        max_retries: int = 3,
        throw_exception_if_retry_exceeded: bool = True,
        tracking_scope: TrackingScope = TrackingScope.INVOCATION,
    ) -> None:
        """Set the limit and what happens beyond it.

        Args:
            name: The plugin's name.
            max_retries: How many consecutive failures of a tool the model may correct; 0 allows
                none.
            throw_exception_if_retry_exceeded: Whether further failures end the run with the
                tool's error; otherwise, the model is told to find another way.
            tracking_scope: Whether to count failures per invocation, or across all of them.

        Raises:
            ValueError: `max_retries` is negative.
        """
        if max_retries < 0:
            raise ValueError(f"max_retries is {max_retries}; it must be 0 or more.")
        super().__init__(name)
        self.max_retries = max_retries
        self.throw_exception_if_retry_exceeded = throw_exception_if_retry_exceeded
        self.scope = tracking_scope
        self._failure_counts = FailureCounts()

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context, result: Any
    ) -> dict[str, Any] | None:
        """Reset the tool's count of failures, or handle the error that the result reports.

        Raises ValueError if `tracking_scope` isn't a TrackingScope.
        """
        if isinstance(result, dict) and (
            result.get("response_type") == REFLECT_AND_RETRY_RESPONSE_TYPE
        ):
            return None
        error = await self.extract_error_from_result(
            tool=tool, tool_args=tool_args, tool_context=tool_context, result=result
        )
        if error:
            return _handle(self, tool, tool_args, tool_context, error)
        self._failure_counts.forget(self._get_scope_key(tool_context), tool.name)
        return None

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context, error: Exception
    ) -> dict[str, Any] | None:
        """Answer for the failed tool, or raise its error if the tool has failed too often."""
        return _handle(self, tool, tool_args, tool_context, error)

    async def extract_error_from_result(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context, result: Any
    ) -> Any:
        """Return the error in a result, or None; override for tools that return their errors."""
        return None

    def _get_scope_key(self, tool_context: Context) -> str:
        """Return the key under which failures are counted; override to count by user or session."""
        if not isinstance(self.scope, TrackingScope):
            raise ValueError(  # noqa: TRY004  ADK raises it, too
                f"`tracking_scope` is {brief(self.scope)}; pass a TrackingScope, or override"
                " `_get_scope_key`."
            )
        return self.scope.key(tool_context.invocation_id)


def _handle(
    plugin: ReflectAndRetryToolPlugin,
    tool: BaseTool,
    tool_args: dict[str, Any],
    tool_context: Context,
    /,
    error: Any,
) -> dict[str, Any]:
    count = plugin._failure_counts.add(plugin._get_scope_key(tool_context), tool.name)
    if count > plugin.max_retries and plugin.throw_exception_if_retry_exceeded:
        raise error if isinstance(error, Exception) else RuntimeError(str(error))
    advice = _RETRY if count <= plugin.max_retries else _GIVE_UP
    return ToolFailureResponse(
        error_type=type(error).__name__ if isinstance(error, Exception) else "ToolError",
        error_details=str(error),
        retry_count=min(count, plugin.max_retries),
        reflection_guidance=(
            f"The call of `{tool.name}` with"
            f" {json.dumps(tool_args, default=str)} failed. "
            + advice.format(count=count, limit=plugin.max_retries, tool=tool.name)
        ),
    ).model_dump(mode="json")
