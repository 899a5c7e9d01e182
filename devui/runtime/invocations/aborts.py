"""Closes an aborted invocation in the history (adk-runtime 3.7)."""

from dataclasses import dataclass

from google.genai import types

from devui.runtime.agents.invocation_context import InvocationContext
from devui.runtime.events.event import Event

INVOCATION_ABORTED = "INVOCATION_ABORTED"
_MESSAGE = "The invocation was aborted."


def abort_events(ctx: InvocationContext, root_name: str) -> list[Event]:
    """Answer the function calls left open, so that models can continue from this history.

    Returns one event for each author, branch and task; if no call is open, one without content.
    Calls that a human or a job will answer stay open. So does a task whose agent has said something
    to the user and waits: then there are no events.
    """
    if _waits_for_words(ctx):
        return []
    open_calls = _open_calls(ctx)
    if not open_calls:
        return [_event(ctx, _Caller(root_name), [])]
    return [_event(ctx, caller, calls) for caller, calls in open_calls.items()]


@dataclass(frozen=True, slots=True)
class _Caller:
    """An agent working on a branch, perhaps on a task."""

    name: str
    branch: str | None = None
    scope: str | None = None


def _waits_for_words(ctx: InvocationContext) -> bool:
    events = ctx.history.events
    last = events[-1] if events else None
    return last is not None and bool(last.isolation_scope) and _is_answer(last)


def _is_answer(event: Event) -> bool:
    return event.author != "user" and event.content is not None and event.is_final_response()


def _open_calls(ctx: InvocationContext) -> dict[_Caller, list[types.FunctionCall]]:
    events = ctx.history.events
    answered_ids = {r.id for event in events for r in event.get_function_responses()}
    open_calls: dict[_Caller, list[types.FunctionCall]] = {}
    for event in events:
        awaited = event.long_running_tool_ids or set()
        caller = _Caller(event.author, event.branch, event.isolation_scope)
        for call in event.get_function_calls():
            if call.id not in answered_ids and call.id not in awaited:
                open_calls.setdefault(caller, []).append(call)
    return open_calls


def _event(ctx: InvocationContext, caller: _Caller, calls: list[types.FunctionCall]) -> Event:
    parts = [
        types.Part(
            function_response=types.FunctionResponse(
                id=call.id, name=call.name, response={"error": _MESSAGE}
            )
        )
        for call in calls
    ]
    return Event(
        invocation_id=ctx.invocation_id,
        author=caller.name,
        branch=caller.branch,
        isolation_scope=caller.scope,
        content=types.Content(role="user", parts=parts) if parts else None,
        error_code=INVOCATION_ABORTED,
        error_message=_MESSAGE,
    )
