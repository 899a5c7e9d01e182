"""The user's consent to a node (adk-runtime 12.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_core import to_jsonable_python

from devui.runtime.events.request_input import RequestInput
from devui.runtime.events.tool_confirmation import ToolConfirmation
from devui.runtime.workflow.errors import WorkflowDataError

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context

REJECTED = {"error": "This tool call is rejected."}
"""The output of a node that the user did not agree to."""


def consent_request(
    ctx: Context, name: str, args: dict[str, Any], *, hint: str = "", payload: Any = None
) -> RequestInput:
    """The question whether a tool, or a function, may be called with these arguments."""
    asked: dict[str, Any] = {
        "tool_name": name,
        "args": to_jsonable_python(args, by_alias=False, serialize_unknown=True),
    }
    if payload is not None:
        asked["confirmation_payload"] = payload
    return RequestInput(
        interrupt_id=_interrupt_id(ctx),
        message=hint or f"May {name}() be called?",
        payload=asked,
        response_schema=ToolConfirmation,
    )


def take_consent(ctx: Context) -> ToolConfirmation | None:
    """The user's answer, which the context then has, too; None if there is none yet.

    Raises:
        WorkflowDataError: it is no answer to such a question.
    """
    answer = ctx.resume_inputs.get(_interrupt_id(ctx))
    if answer is None:
        return None
    try:
        given = {key: value for key, value in answer.items() if value is not None}
        ctx.tool_confirmation = ToolConfirmation.from_response_dict(given)
    except (AttributeError, ValidationError) as error:
        raise WorkflowDataError(
            f"{answer!r:.200} does not tell whether node {ctx.node_path} may run; answer with"
            ' {"confirmed": true} or {"confirmed": false}.'
        ) from error
    return ctx.tool_confirmation


def _interrupt_id(ctx: Context) -> str:
    return f"wf_tool_confirmation:{ctx.node_path}"
