"""`ReflectAndRetryModelPlugin`: lets a model correct an answer that failed (adk-runtime 10.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.flows.llm_flows.processors import agent_of
from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.platform.uuid import new_uuid
from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.plugins.reflect_retry_tool_plugin import (
    REFLECT_AND_RETRY_RESPONSE_TYPE,
    FailureCounts,
    TrackingScope,
)
from devui.runtime.tools.function_tool import FunctionTool

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.models.llm_request import LlmRequest

RESERVED_TOOL_CALL_ERROR_TYPE = "RESERVED_TOOL_CALL"
"""The error type of an answer that calls the plugin's own tool."""

_TOOL = "adk_handle_model_error"
_UNSIGNED = b"skip_thought_signature_validator"
"""A signature with which Gemini accepts calls that it didn't make itself."""


class ReflectAndRetryModelPlugin(BasePlugin):
    """Turns a failed answer into a call whose result asks the model to reconsider.

    An answer counts as failed if it has an error code and one of the configured finish reasons.
    """

    def __init__(
        self,
        name: str = "reflect_retry_model_plugin",
        max_retries: int = 3,
        throw_exception_if_retry_exceeded: bool = True,
        tracking_scope: TrackingScope = TrackingScope.INVOCATION,
        on_model_errors: list[types.FinishReason] | None = None,
    ) -> None:
        """Set the limit and what counts as a failure.

        Args:
            name: The plugin's name.
            max_retries: How many consecutive failures a model may correct; 0 allows none.
            throw_exception_if_retry_exceeded: Whether further failures end the run with an error;
                otherwise, the failed answer stands.
            tracking_scope: Whether to count failures per invocation, or across all of them.
            on_model_errors: The finish reasons that count as failures; by default, only
                MALFORMED_FUNCTION_CALL.

        Raises:
            ValueError: `max_retries` is negative, or a reason isn't a FinishReason.
        """
        if max_retries < 0:
            raise ValueError(f"max_retries is {max_retries}; it must be 0 or more.")
        super().__init__(name)
        self.max_retries = max_retries
        self.throw_exception_if_retry_exceeded = throw_exception_if_retry_exceeded
        self.scope = tracking_scope
        self.on_model_errors = _check_reasons(on_model_errors)
        self._failure_counts = FailureCounts()

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> None:
        """Add the tool that answers the plugin's calls, without declaring it to the model."""
        llm_request.tools_dict[_TOOL] = FunctionTool(self.adk_handle_model_error)

    async def after_model_callback(
        self, *, callback_context: Context, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Replace a failed answer with a call of the plugin's tool.

        Raises:
            RuntimeError: too many answers in a row failed, and the run should end then.
        """
        scope = self.scope.key(callback_context.invocation_id)
        model = _model_of(callback_context)
        failure = _failure(self, llm_response)
        if failure is None:
            self._failure_counts.forget(scope, model)
            return None
        count = self._failure_counts.add(scope, model)
        if count <= self.max_retries:
            return _call(failure | {"retry_count": count})
        if self.throw_exception_if_retry_exceeded:
            raise RuntimeError(
                f"The model {model!r} failed {count} times in a row, and max_retries is"
                f" {self.max_retries}. The last error: {failure['error_details']}"
            )
        if failure["error_type"] != RESERVED_TOOL_CALL_ERROR_TYPE:
            return llm_response
        return LlmResponse(
            error_code=RESERVED_TOOL_CALL_ERROR_TYPE, error_message=failure["error_details"]
        )

    def adk_handle_model_error(
        self,
        *,
        response_type: str,
        error_type: str | None,
        error_details: str | None,
        finish_reason: str | None,
        retry_count: int,
    ) -> dict[str, str]:
        """What the model is told of its failed answer."""
        return {
            "reflection_guidance": (
                f"Your last answer failed; this was failure {retry_count} of {self.max_retries}"
                " that are allowed. Look at the error and at what you wrote, and do not write the"
                " same again: name a tool that is declared, with complete and well-formed"
                " arguments, or go another way."
            )
        }


def _failure(plugin: ReflectAndRetryModelPlugin, response: LlmResponse) -> dict[str, Any] | None:
    if any(call.name == _TOOL for call in response.get_function_calls()):
        return _describe(
            RESERVED_TOOL_CALL_ERROR_TYPE,
            f"{_TOOL} is not for the model to call; it is called in place of failed answers.",
            types.FinishReason.OTHER,
        )
    if response.error_code and response.finish_reason in plugin.on_model_errors:
        return _describe(response.error_code, response.error_message, response.finish_reason)
    return None


def _check_reasons(reasons: list[types.FinishReason] | None) -> list[types.FinishReason]:
    if reasons is None:
        return [types.FinishReason.MALFORMED_FUNCTION_CALL]
    if wrong := [reason for reason in reasons if not isinstance(reason, types.FinishReason)]:
        raise ValueError(f"on_model_errors contains {wrong}; use members of types.FinishReason.")
    return reasons


def _model_of(context: Context) -> str:
    return agent_of(context.get_invocation_context()).canonical_model.model


def _describe(kind: str, details: str | None, reason: Any) -> dict[str, Any]:
    return {
        "response_type": REFLECT_AND_RETRY_RESPONSE_TYPE,
        "error_type": kind,
        "error_details": details,
        "finish_reason": reason,
    }


def _call(args: dict[str, Any]) -> LlmResponse:
    call = types.FunctionCall(id=f"{_TOOL}_{new_uuid()}", name=_TOOL, args=args)
    part = types.Part(function_call=call, thought_signature=_UNSIGNED)
    return LlmResponse(content=types.Content(role="model", parts=[part]))
