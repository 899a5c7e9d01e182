"""A node's requests for consent and credentials, and the answers (adk-runtime 12.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types
from pydantic import ValidationError
from pydantic_core import to_jsonable_python

from devui.runtime.agents.invocation_events import REQUEST_CREDENTIAL
from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_handler import AuthHandler, credential_of
from devui.runtime.auth.auth_tool import AuthConfig, AuthToolArguments
from devui.runtime.auth.logins import LoginRefused
from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import ToolConfirmation
from devui.runtime.events.request_input import RequestInput
from devui.runtime.workflow.errors import WorkflowDataError

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context


# The user's consent to a node (adk-runtime 12.6).


REJECTED = {"error": "This tool call is rejected."}
"""The output of a node that the user rejected."""


def consent_request(
    ctx: Context, name: str, args: dict[str, Any], *, hint: str = "", payload: Any = None
) -> RequestInput:
    """Return the question whether a tool or function may be called with these arguments."""
    fields: dict[str, Any] = {
        "tool_name": name,
        "args": to_jsonable_python(args, by_alias=False, serialize_unknown=True),
    }
    if payload is not None:
        fields["confirmation_payload"] = payload
    return RequestInput(
        interrupt_id=_interrupt_id(ctx),
        message=hint or f"May {name}() be called?",
        payload=fields,
        response_schema=ToolConfirmation,
    )


def take_consent(ctx: Context) -> ToolConfirmation | None:
    """Return the user's answer, and put it into the context; None if there is no answer yet.

    Raises:
        WorkflowDataError: the answer isn't a confirmation.
    """
    answer = ctx.resume_inputs.get(_interrupt_id(ctx))
    if answer is None:
        return None
    try:
        values = {key: value for key, value in answer.items() if value is not None}
        ctx.tool_confirmation = ToolConfirmation.from_response_dict(values)
    except (AttributeError, ValidationError) as error:
        raise WorkflowDataError(
            f"{answer!r:.200} does not say whether node {ctx.node_path} may run; answer with"
            ' {"confirmed": true} or {"confirmed": false}.'
        ) from error
    return ctx.tool_confirmation


def _interrupt_id(ctx: Context) -> str:
    return f"wf_tool_confirmation:{ctx.node_path}"


# A node's request for a credential, and the answer (adk-runtime 12.6).


def credential_request(ctx: Context, config: AuthConfig) -> Event | None:
    """Return the request for the credential; None if the node has it or just got an answer.

    The credential is kept for this invocation; `ctx.get_auth_response(config)` returns it.

    Raises:
        WorkflowDataError: the answer isn't a credential, or belongs to another login.
    """
    handler = AuthHandler(config)
    if take_credentials(ctx) or handler.has_auth_response(ctx.state):
        return None
    return request_event(ctx, handler.generate_auth_request())


def take_credentials(ctx: Context) -> bool:
    """Keep the user's answers to the node's requests; return whether there are any.

    Raises:
        WorkflowDataError: an answer isn't a credential, or belongs to another login.
    """
    interrupts = _answered_interrupts(ctx)
    for interrupt in interrupts:
        request = _request(ctx, interrupt)
        if request is not None:
            _keep(ctx, ctx.resume_inputs[interrupt], request)
    return bool(interrupts)


def request_event(ctx: Context, config: AuthConfig) -> Event:
    """Return the event that asks the client for a credential.

    A node that needs several credentials asks for one at a time, each with an id of its own.
    """
    count = len(_answered_interrupts(ctx))
    interrupt = f"{_id(ctx)}#{count + 1}" if count else _id(ctx)
    arguments = AuthToolArguments(function_call_id=interrupt, auth_config=config)
    args = arguments.model_dump(mode="json", exclude_none=True, by_alias=True)
    args["message"] = f"Please give the credential: {config.auth_scheme.type_}."
    call = types.FunctionCall(id=interrupt, name=REQUEST_CREDENTIAL, args=args)
    return Event(
        content=types.Content(role="model", parts=[types.Part(function_call=call)]),
        long_running_tool_ids={interrupt},
    )


def _answered_interrupts(ctx: Context) -> list[str]:
    first = _id(ctx)
    return [each for each in ctx.resume_inputs if each == first or each.startswith(f"{first}#")]


def _id(ctx: Context) -> str:
    return f"wf_auth:{ctx.node_path}"


def _keep(ctx: Context, answer: Any, config: AuthConfig) -> None:
    if isinstance(answer, str | int):  # a key or a token
        ctx.state[f"temp:{config.credential_key}"] = str(answer)
        return
    try:
        AuthHandler(config).keep(ctx.state, _credential(answer, config))
    except (LoginRefused, ValueError, TypeError, AttributeError) as error:
        raise WorkflowDataError(
            f"The answer to the request for a credential of node {ctx.node_path} cannot be used:"
            f" {error} Send the request's authConfig back with exchangedAuthCredential filled in."
        ) from error


def _credential(answer: Any, config: AuthConfig) -> AuthCredential:
    credential = credential_of(answer, config)
    if credential is None:
        raise LoginRefused("It contains no credential.")
    return credential


def _request(ctx: Context, interrupt: str) -> AuthConfig | None:
    """Return the request as it was sent, with the state and proof of the login."""
    for event in reversed(ctx.session.events):
        for call in event.get_function_calls():
            if call.id == interrupt:
                return AuthToolArguments.model_validate(call.args).auth_config
    return None
