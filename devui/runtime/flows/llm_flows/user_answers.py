"""The user's answers, and the calls that waited for them (adk-runtime 8.5, 8.6)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

from devui.runtime.agents.context import Context, ReadonlyContext
from devui.runtime.agents.invocation_events import (
    REQUEST_CREDENTIAL,
    own_events,
    settled_calls,
    subjects,
    unheeded_answers,
)
from devui.runtime.auth.auth_handler import AuthHandler, credential_of
from devui.runtime.auth.auth_tool import AuthToolArguments
from devui.runtime.auth.logins import LoginRefused
from devui.runtime.flows.llm_flows.functions import run_calls
from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of
from devui.runtime.flows.llm_flows.tool_steps import transfer_tools
from devui.runtime.flows.llm_flows.user_requests import (
    decided_calls,
    decisions,
    may_have_answers,
    originals,
)

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.events.event_actions import ToolConfirmation
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.tools.base_tool import BaseTool


# Stores the user's credentials, and runs the calls that waited for them.
#
# Source: adk-runtime 8.6.


async def _run_authorized(
    ctx: InvocationContext, llm_request: LlmRequest
) -> AsyncGenerator[Event, None]:
    agent = agent_of(ctx)
    reader = "credential", agent.name, ctx.branch, ctx.node_path
    if ctx.history.is_heeded(reader):
        return  # quick to check, and the usual case
    events = own_events(ctx)
    answers = [event for event in events if event.author == "user" and _credentials(event)]
    unheeded = unheeded_answers(events, agent.name)
    keys: set[str | None] = set()
    for earlier in reversed(answers):
        if earlier is not ctx.latest_answer:
            with suppress(ValueError):  # raised when the answer came
                new_keys = _keep(ctx, events, _credentials(earlier), anew=False)
                keys |= set() if unheeded.isdisjoint(_credentials(earlier)) else new_keys
    messages = [event for event in events if event.content]
    is_new = bool(answers) and messages[-1] is ctx.latest_answer and messages[-1] is answers[-1]
    if is_new:
        keys |= _keep(ctx, events, _credentials(answers[-1]))
    calls = _waiting(events, agent.name, keys, unheeded)
    if not calls and is_new:
        before = {
            credential_id for earlier in answers[:-1] for credential_id in _credentials(earlier)
        }
        answered_ids = {response.id for response in answers[-1].get_function_responses()}
        ctx.end_invocation = answered_ids <= before  # a repeated answer adds nothing
    if not calls:
        ctx.history.mark_handled(reader)
        return  # they have run already, or the user has answered something else
    tools = {tool.name: tool for tool in await agent.canonical_tools(ReadonlyContext(ctx))}
    confirmations = decided_calls(events, agent.name)
    async with aclosing(run_calls(ctx, calls, tools, confirmations)) as results:
        async for event in results:
            yield event


def _credentials(answer: Event) -> dict[str, dict[str, Any]]:
    """Return the credentials in a user's answer, by request id."""
    return {
        response.id: response.response or {}
        for response in answer.get_function_responses()
        if response.name == REQUEST_CREDENTIAL and response.id
    }


def _requests(events: Sequence[Event], ids: Collection[str | None]) -> dict[str, AuthToolArguments]:
    """Return the answered requests, by id."""
    return {
        call.id: AuthToolArguments.model_validate(call.args)
        for event in events
        for call in event.get_function_calls()
        if call.name == REQUEST_CREDENTIAL and call.id and call.id in ids
    }


def _keep(
    ctx: InvocationContext,
    events: Sequence[Event],
    credentials: Mapping[str, dict[str, Any]],
    *,
    anew: bool = True,
) -> set[str | None]:
    """Store the credentials where the tools of this invocation look for them; return their keys.

    A refused login is dropped: its tools run without it and ask again. Without `anew`, credentials
    that this run has already processed stay as they are.
    """
    keys = set()
    for request_id, arguments in _requests(events, credentials).items():
        config = arguments.auth_config
        handler = AuthHandler(config)
        keys.add(config.credential_key)
        if not anew and handler.is_known(ctx.session.state):
            continue
        try:
            credential = credential_of(credentials[request_id], config)
        except LoginRefused as error:
            handler.drop(ctx.session.state, error)
        else:
            if credential is not None:
                handler.keep(ctx.session.state, credential)
    return keys


def _waiting(
    events: Sequence[Event],
    agent: str,
    keys: Collection[str | None],
    unheeded: Collection[str | None],
) -> list[types.FunctionCall]:
    """Return the agent's latest calls that needed these credentials and have no result yet.

    Unheeded answers belong to calls whose run was interrupted after they had asked.
    """
    needy = {
        call_id
        for event in events
        for call_id, config in event.actions.requested_auth_configs.items()
        if config.credential_key in keys
    }
    needy.update(each.function_call_id for each in _requests(events, unheeded).values())
    ids = needy - settled_calls(events)
    for event in reversed(events):
        calls = [call for call in event.get_function_calls() if call.id in ids]
        if calls and event.author == agent:
            return calls
    return []


auth = RequestProcessor("auth", run=_run_authorized, applies=may_have_answers)
"""Runs before the history is read, so that the model sees the results."""


# Runs the calls that the user has decided on (adk-runtime 8.5).


async def _run_decided(
    ctx: InvocationContext, llm_request: LlmRequest
) -> AsyncGenerator[Event, None]:
    reader = "confirmation", agent_of(ctx).name, ctx.branch, ctx.node_path
    if ctx.history.is_heeded(reader):
        return
    answer = ctx.latest_answer
    events = own_events(ctx)
    verdicts = _unheeded(events, agent_of(ctx).name) | decisions(answer)
    original_calls = originals(events, agent_of(ctx).name, verdicts) if verdicts else {}
    settled_ids = settled_calls(events) | _asked_since(events, answer) if original_calls else set()
    done_keys = [key for key, call in original_calls.items() if call.id in settled_ids]
    calls = {key: call for key, call in original_calls.items() if key not in done_keys}
    if not calls:
        ctx.history.mark_handled(reader)
        if (
            original_calls
            and answer
            and _answers_only(answer, done_keys)
            and not _acted_on(events, answer)
        ):
            ctx.end_invocation = True  # a repeated answer adds nothing
        return
    agent = agent_of(ctx)
    own = await agent.canonical_tools(ReadonlyContext(ctx))
    tools = {tool.name: tool for tool in [*own, *transfer_tools(agent)]}
    for call in calls.values():
        await _check(ctx, events, call, tools)
    confirmations: dict[str, ToolConfirmation] = {}
    for key, call in calls.items():
        if confirmations.setdefault(call.id or "", verdicts[key]).confirmed:
            confirmations[call.id or ""] = verdicts[key]  # one refusal outweighs confirmations
    once = list({call.id: call for call in calls.values()}.values())
    async with aclosing(run_calls(ctx, once, tools, confirmations)) as results:
        async for event in results:
            yield event


def _unheeded(events: Sequence[Event], agent: str) -> dict[str, ToolConfirmation]:
    """Return earlier decisions of the user that had no effect because the run was interrupted."""
    unheeded = unheeded_answers(events, agent)
    verdicts: dict[str, ToolConfirmation] = {}
    for event in events if unheeded else ():
        if event.author == "user":
            with suppress(ValueError, TypeError):  # reported when the answer came
                verdicts |= decisions(event)
    return {each: verdicts[each] for each in verdicts.keys() & unheeded}


def _asked_since(events: Sequence[Event], answer: Event | None) -> set[str]:
    """Return the calls that asked again when they ran: for them, this answer is used up."""
    start = next((i for i, event in enumerate(events) if event is answer), len(events))
    return {each for event in events[start:] for each in subjects(event.get_function_calls())}


def _answers_only(answer: Event, questions: Sequence[str]) -> bool:
    return len(answer.get_function_responses()) == len(questions)


def _acted_on(events: Sequence[Event], answer: Event) -> bool:
    """Return whether any function response follows this answer."""
    later = events[next(i for i, event in enumerate(events) if event is answer) + 1 :]
    return any(event.get_function_responses() for event in later)


async def _check(
    ctx: InvocationContext,
    events: Sequence[Event],
    call: types.FunctionCall,
    tools: Mapping[str, BaseTool],
) -> None:
    """Check that the call was really made, and that it needs a decision.

    Raises:
        ValueError: It was not made like that, or doesn't need a decision.
    """
    matches = [
        each for event in events for each in event.get_function_calls() if each.id == call.id
    ]
    if not matches or (matches[0].name, matches[0].args or {}) != (call.name, call.args or {}):
        raise ValueError(
            f"The confirmation is for a call {call.name!r} with id {call.id!r} that matches none"
            " in the session; confirm calls exactly as they are there."
        )
    tool = tools.get(call.name or "")
    if tool is None:
        raise ValueError(f"The confirmed call names {call.name!r}, which the agent doesn't have.")
    has_request = any(call.id in event.actions.requested_tool_confirmations for event in events)
    context = Context(ctx, function_call_id=call.id)
    if not has_request and not await tool.check_require_confirmation(call.args or {}, context):
        raise ValueError(f"Tool {call.name!r} didn't ask for confirmation of the call {call.id!r}.")


request_confirmation = RequestProcessor(
    "request_confirmation", run=_run_decided, applies=may_have_answers
)
"""Runs before the history is read, so that the model sees the results."""
