"""How an aborted invocation is closed in the history (adk-runtime 3.7)."""

from google.genai import types

from devui.runtime.agents.invocation_context import InvocationContext
from devui.runtime.agents.invocation_events import events_of
from devui.runtime.events.event import Event

INVOCATION_ABORTED = "INVOCATION_ABORTED"
_MESSAGE = "The invocation was aborted."


def abort_events(ctx: InvocationContext, root_name: str) -> list[Event]:
    """Answers to the function calls left open, so that models can go on from this history.

    One event for each author and branch; if no call is open, one without content. Calls that are
    answered later by a human or a job stay open.
    """
    open_calls = _open_calls(ctx)
    if not open_calls:
        return [_event(ctx, root_name, None, [])]
    return [_event(ctx, author, branch, calls) for (author, branch), calls in open_calls.items()]


def _open_calls(
    ctx: InvocationContext,
) -> dict[tuple[str, str | None], list[types.FunctionCall]]:
    events = events_of(ctx.session.events, invocation_id=ctx.invocation_id)
    answered = {r.id for event in events for r in event.get_function_responses()}
    found: dict[tuple[str, str | None], list[types.FunctionCall]] = {}
    for event in events:
        awaited = event.long_running_tool_ids or set()
        for call in event.get_function_calls():
            if call.id not in answered and call.id not in awaited:
                found.setdefault((event.author, event.branch), []).append(call)
    return found


def _event(
    ctx: InvocationContext, author: str, branch: str | None, calls: list[types.FunctionCall]
) -> Event:
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
        author=author,
        branch=branch,
        content=types.Content(role="user", parts=parts) if parts else None,
        error_code=INVOCATION_ABORTED,
        error_message=_MESSAGE,
    )
