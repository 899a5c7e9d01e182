"""A node's request for a credential, and the answer (adk-runtime 12.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.auth.auth_answers import credential_of
from devui.runtime.auth.auth_handler import AuthHandler
from devui.runtime.auth.auth_tool import AuthConfig, AuthToolArguments
from devui.runtime.auth.logins import LoginRefused
from devui.runtime.events.event import Event
from devui.runtime.workflow.errors import WorkflowDataError

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context

_REQUEST = "adk_request_credential"


def credential_request(ctx: Context, config: AuthConfig) -> Event | None:
    """The request for the credential; None if the node has it, or the answer has just come.

    The credential is kept for this invocation: `ctx.get_auth_response(config)`.

    Raises:
        WorkflowDataError: the answer is no credential, or belongs to another login.
    """
    handler = AuthHandler(config)
    interrupt = f"wf_auth:{ctx.node_path}"
    answer = ctx.resume_inputs.get(interrupt)
    if answer is not None:
        _keep(ctx, handler, answer, _asked(ctx, interrupt) or config)
    elif not handler.has_auth_response(ctx.state):
        return _event(interrupt, handler.generate_auth_request())
    return None


def _keep(ctx: Context, handler: AuthHandler, answer: Any, asked: AuthConfig) -> None:
    if isinstance(answer, str):  # a key or a token
        ctx.state[f"temp:{handler.auth_config.credential_key}"] = answer
        return
    try:
        handler.keep(ctx.state, credential_of(answer, asked))
    except (LoginRefused, ValueError, TypeError) as error:
        raise WorkflowDataError(
            f"The answer to the request for a credential of node {ctx.node_path} cannot be used:"
            f" {error} Send the request's authConfig back with exchangedAuthCredential filled in."
        ) from error


def _asked(ctx: Context, interrupt: str) -> AuthConfig | None:
    """The request as it was sent: with the state and the proof of the login."""
    for event in reversed(ctx.session.events):
        for call in event.get_function_calls():
            if call.id == interrupt:
                return AuthToolArguments.model_validate(call.args).auth_config
    return None


def _event(interrupt: str, config: AuthConfig) -> Event:
    asked = AuthToolArguments(function_call_id=interrupt, auth_config=config)
    args = asked.model_dump(mode="json", exclude_none=True, by_alias=True)
    args["message"] = f"Please give the credential: {config.auth_scheme.type_}."
    call = types.FunctionCall(id=interrupt, name=_REQUEST, args=args)
    return Event(
        content=types.Content(role="model", parts=[types.Part(function_call=call)]),
        long_running_tool_ids={interrupt},
    )
