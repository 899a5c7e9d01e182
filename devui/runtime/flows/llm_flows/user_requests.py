"""Function calls by which tools ask users to confirm or to log in (adk-runtime 8.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.agents.invocation_events import REQUEST_CONFIRMATION, REQUEST_CREDENTIAL
from devui.runtime.auth.auth_tool import AuthConfig, AuthToolArguments
from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import ToolConfirmation
from devui.runtime.flows.llm_flows.history import CLIENT_ID
from devui.runtime.platform.uuid import new_uuid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from devui.runtime.agents.invocation_context import InvocationContext


# The user's decisions on calls that need a confirmation (adk-runtime 8.5).


def decisions(answer: Event | None) -> dict[str, ToolConfirmation]:
    """Return the user's decisions in an answer, by request id.

    Raises:
        ValueError: The answer doesn't state a decision.
    """
    return {
        response.id: _decision(response.response)
        for response in (answer.get_function_responses() if answer else [])
        if response.name == REQUEST_CONFIRMATION and response.id and response.response is not None
    }


def originals(
    events: Sequence[Event], agent: str, confirmations: Mapping[str, ToolConfirmation]
) -> dict[str, types.FunctionCall]:
    """Return the calls that the agent's requests are about, by request id."""
    return {
        call.id: types.FunctionCall.model_validate((call.args or {})["originalFunctionCall"])
        for event in events
        if event.author == agent
        for call in event.get_function_calls()
        if call.name == REQUEST_CONFIRMATION and call.id and call.id in confirmations
    }


def decided_calls(events: Sequence[Event], agent: str) -> dict[str, ToolConfirmation]:
    """Return the decisions on the agent's calls so far, by call id."""
    confirmations: dict[str, ToolConfirmation] = {}
    for event in events:
        if event.author == "user":
            with suppress(ValueError, TypeError):  # reported when the answer came
                confirmations |= decisions(event)
    calls = originals(events, agent, confirmations)
    return {call.id or "": confirmations[request_id] for request_id, call in calls.items()}


def _decision(answer: dict[str, Any]) -> ToolConfirmation:
    try:
        return ToolConfirmation.from_response_dict(answer)
    except (ValueError, TypeError) as error:  # from pydantic and json
        error.add_note(
            f"{answer!r:.200} doesn't say whether the tool may be called; answer"
            f' {REQUEST_CONFIRMATION} with {{"confirmed": true}} or {{"confirmed": false}}.'
        )
        raise


def may_have_answers(ctx: InvocationContext) -> bool:
    """Return whether the user may have answered calls, now or in a run that was interrupted."""
    return ctx.begun_at is not None or ctx.latest_answer is not None


def with_requests(
    ctx: InvocationContext, calls: Sequence[types.FunctionCall], response_event: Event
) -> list[Event]:
    """Return the event of the tools' responses, with the requests that they make of the user.

    A request for credentials ends the agent's run. A request for confirmation comes last, so that
    a client that leaves at the request has seen the results. If there are no results yet, the
    request comes first, and the placeholders after it end the turn.
    """
    actions = response_event.actions
    events = []
    if actions.requested_auth_configs:
        events.append(credential_event(ctx, actions.requested_auth_configs))
        ctx.end_invocation = True
    if not actions.requested_tool_confirmations:
        return [*events, response_event]
    request = _confirmation_event(ctx, calls, actions.requested_tool_confirmations)
    ids = {response.id for response in response_event.get_function_responses()}
    if ids <= actions.requested_tool_confirmations.keys():
        return [*events, request, response_event]
    actions.skip_summarization = None
    return [*events, response_event, request]


def credential_event(
    ctx: InvocationContext, configs: Mapping[str, AuthConfig], *, role: str | None = "user"
) -> Event:
    """Ask once for each credential, even if several calls need it."""
    by_key: dict[str | None, tuple[str, AuthConfig]] = {}
    for call_id, config in configs.items():
        by_key.setdefault(config.credential_key, (call_id, config))
    arguments = [
        AuthToolArguments(function_call_id=call_id, auth_config=config)
        for call_id, config in by_key.values()
    ]
    dumped = (each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in arguments)
    return _request(ctx, REQUEST_CREDENTIAL, dumped, role=role)


def _confirmation_event(
    ctx: InvocationContext,
    calls: Sequence[types.FunctionCall],
    requested: Mapping[str, ToolConfirmation],
) -> Event:
    arguments = (
        {
            "originalFunctionCall": call.model_dump(exclude_none=True, by_alias=True),
            "toolConfirmation": confirmation.model_dump(by_alias=True, exclude_none=True),
        }
        for call in calls
        if (confirmation := requested.get(call.id or "")) is not None
    )
    return _request(ctx, REQUEST_CONFIRMATION, arguments, role="model")


def _request(
    ctx: InvocationContext, name: str, arguments: Iterable[dict[str, Any]], *, role: str | None
) -> Event:
    calls = [
        types.FunctionCall(id=f"{CLIENT_ID}{new_uuid()}", name=name, args=each)
        for each in arguments
    ]
    return Event(
        invocation_id=ctx.invocation_id,
        author=ctx.agent.name if ctx.agent else "",
        branch=ctx.branch,
        content=types.Content(role=role, parts=[types.Part(function_call=call) for call in calls]),
        long_running_tool_ids={call.id for call in calls if call.id},
    )
