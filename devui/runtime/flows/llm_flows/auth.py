"""Takes the credentials that the user gave, and runs the calls that waited for them.

Source: adk-runtime 8.6.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

from devui.runtime.agents.invocation_events import own_events
from devui.runtime.agents.open_calls import (
    REQUEST_CREDENTIAL,
    settled_calls,
    unheeded_answers,
)
from devui.runtime.agents.readonly_context import ReadonlyContext
from devui.runtime.auth.auth_answers import credential_of
from devui.runtime.auth.auth_handler import AuthHandler
from devui.runtime.auth.auth_tool import AuthToolArguments
from devui.runtime.auth.logins import LoginRefused
from devui.runtime.flows.llm_flows.decisions import decided_calls
from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of
from devui.runtime.flows.llm_flows.run_calls import run_calls
from devui.runtime.flows.llm_flows.user_requests import may_have_answers

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest


async def _run(ctx: InvocationContext, llm_request: LlmRequest) -> AsyncGenerator[Event, None]:
    agent = agent_of(ctx)
    reader = "credential", agent.name, ctx.branch, ctx.node_path
    if ctx.history.is_heeded(reader):
        return  # quick to find out, and mostly so
    events = own_events(ctx)
    answers = [event for event in events if event.author == "user" and _given(event)]
    unheeded = unheeded_answers(events, agent.name)
    keys: set[str | None] = set()
    for earlier in reversed(answers):
        if earlier is not ctx.latest_answer:
            with suppress(ValueError):  # which was raised when it came
                kept = _keep(ctx, events, _given(earlier), anew=False)
                keys |= set() if unheeded.isdisjoint(_given(earlier)) else kept
    said = [event for event in events if event.content]
    is_new = bool(answers) and said[-1] is ctx.latest_answer and said[-1] is answers[-1]
    if is_new:
        keys |= _keep(ctx, events, _given(answers[-1]))
    calls = _waiting(events, agent.name, keys, unheeded)
    if not calls and is_new:
        before = {given for earlier in answers[:-1] for given in _given(earlier)}
        answered = {response.id for response in answers[-1].get_function_responses()}
        ctx.end_invocation = answered <= before  # the same answer once more: nothing to add
    if not calls:
        ctx.history.heed(reader)
        return  # they have been run already, or the user has answered something else
    tools = {tool.name: tool for tool in await agent.canonical_tools(ReadonlyContext(ctx))}
    confirmations = decided_calls(events, agent.name)
    async with aclosing(run_calls(ctx, calls, tools, confirmations)) as results:
        async for event in results:
            yield event


def _given(answer: Event) -> dict[str, dict[str, Any]]:
    """The credentials in an answer of the user, by the ids of the requests."""
    return {
        response.id: response.response or {}
        for response in answer.get_function_responses()
        if response.name == REQUEST_CREDENTIAL and response.id
    }


def _asked(events: Sequence[Event], ids: Collection[str | None]) -> dict[str, AuthToolArguments]:
    """The requests that were answered, by their ids."""
    return {
        call.id: AuthToolArguments.model_validate(call.args)
        for event in events
        for call in event.get_function_calls()
        if call.name == REQUEST_CREDENTIAL and call.id and call.id in ids
    }


def _keep(
    ctx: InvocationContext,
    events: Sequence[Event],
    given: Mapping[str, dict[str, Any]],
    *,
    anew: bool = True,
) -> set[str | None]:
    """Put the credentials where the tools look for them, for this invocation; returns the keys.

    A login that is refused is dropped: its tools run without it, and ask again. If not `anew`,
    what this run has made of a credential stays.
    """
    keys = set()
    for request_id, arguments in _asked(events, given).items():
        config = arguments.auth_config
        handler = AuthHandler(config)
        keys.add(config.credential_key)
        if not anew and handler.is_known(ctx.session.state):
            continue
        try:
            credential = credential_of(given[request_id], config)
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
    """The agent's latest calls that were in need of these credentials, and have no result yet.

    The answers that are unheeded tell of calls whose run was broken off when they had asked.
    """
    needy = {
        call_id
        for event in events
        for call_id, config in event.actions.requested_auth_configs.items()
        if config.credential_key in keys
    }
    needy.update(each.function_call_id for each in _asked(events, unheeded).values())
    ids = needy - settled_calls(events)
    for event in reversed(events):
        calls = [call for call in event.get_function_calls() if call.id in ids]
        if calls and event.author == agent:
            return calls
    return []


auth = RequestProcessor("auth", run=_run, wanted=may_have_answers)
"""Comes before the history is read, so that the model sees the results."""
