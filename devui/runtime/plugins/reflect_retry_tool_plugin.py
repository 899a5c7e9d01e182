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


# How often something failed in a row, so that a model may try again (adk-runtime 10.4).


REFLECT_AND_RETRY_RESPONSE_TYPE = "ERROR_HANDLED_BY_REFLECT_AND_RETRY_PLUGIN"
"""Marks what such a plugin wrote in place of a failure."""

_GLOBAL = "__global_reflect_and_retry_scope__"
_SCOPES_KEPT = 1000


class TrackingScope(Enum):
    """How long failures are counted together."""

    INVOCATION = "invocation"
    GLOBAL = "global"

    def key(self, invocation_id: str) -> str:
        """The name of the count that failures of this invocation belong to."""
        return invocation_id if self is TrackingScope.INVOCATION else _GLOBAL


class FailureCounts:
    """Failures by scope and by name of what failed; old scopes are forgotten."""

    def __init__(self) -> None:
        self._scopes: OrderedDict[str, Counter[str]] = OrderedDict()

    def add(self, scope: str, name: str) -> int:
        """Count one more failure.

        Returns:
            How many there are now in a row.
        """
        counter = self._scopes.setdefault(scope, Counter())
        counter[name] += 1
        if len(self._scopes) > _SCOPES_KEPT:
            self._scopes.popitem(last=False)
        return counter[name]

    def forget(self, scope: str, name: str) -> None:
        """Begin anew, since it has succeeded."""
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
    """The response that a model gets in place of a failure."""

    response_type: str = REFLECT_AND_RETRY_RESPONSE_TYPE
    """By what the response is known."""
    error_type: str = ""
    """The class of the error."""
    error_details: str = ""
    """What the error says."""
    retry_count: int = 0
    """How often this has failed in a row, from 1."""
    reflection_guidance: str = ""
    """What the model is told to do."""


class ReflectAndRetryToolPlugin(BasePlugin):
    """Answers for tools that raise, so that the model can think again and try again.

    Failures are counted for each tool until it succeeds. A call that still fails after
    `max_retries` consecutive failures ends the run, or tells the model to give up.
    """

    def __init__(
        self,
        name: str = "reflect_retry_tool_plugin",
        max_retries: int = 3,
        throw_exception_if_retry_exceeded: bool = True,
        tracking_scope: TrackingScope = TrackingScope.INVOCATION,
    ) -> None:
        """Allow some failures.

        Args:
            name: The plugin's name.
            max_retries: Failures of one tool in a row that the model may correct; 0 allows none.
            throw_exception_if_retry_exceeded: Then let the error end the run; otherwise the
                model is told to find another way.
            tracking_scope: Count in each invocation anew, or in all together.

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
        """Forget the tool's failures; or count one more, if the result tells of one.

        Raises ValueError if `tracking_scope` is none.
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
        """Answer in place of the failed tool; raises its error when it has failed too often."""
        return _handle(self, tool, tool_args, tool_context, error)

    async def extract_error_from_result(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context, result: Any
    ) -> Any:
        """What is wrong with a result, or None; override it for tools that do not raise."""
        return None

    def _get_scope_key(self, tool_context: Context) -> str:
        """Which failures are counted together; override it to count by user or session."""
        if not isinstance(self.scope, TrackingScope):
            raise ValueError(  # noqa: TRY004  ADK raises it, too
                f"`tracking_scope` is {brief(self.scope)}; give a TrackingScope, or override"
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
