"""Which function calls of an invocation have no answer yet (resume seed; adk-runtime 11.3)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from devui.runtime.agents.invocation_events import own_events

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event

REQUEST_CONFIRMATION = "adk_request_confirmation"
REQUEST_CREDENTIAL = "adk_request_credential"
REQUEST_INPUT = "adk_request_input"
REQUESTS = "adk_request_"
"""How the names of calls begin that ask the user something."""
FAILED_CALL = "__adk_internal_failed_call"
"""Key of custom metadata: the long-running call whose failure an error event records."""
WAITING_CALLS = "__adk_internal_waiting_calls"
"""Key of custom metadata: long-running calls that had failed, were run again and now wait."""

_REQUESTS = frozenset({REQUEST_CONFIRMATION, REQUEST_CREDENTIAL})
_PAUSING = frozenset({REQUEST_CREDENTIAL, REQUEST_INPUT})


def is_request(name: str | None) -> bool:
    """Whether a call of that name asks the user something."""
    return (name or "").startswith(REQUESTS)


def pausing_calls(event: Event) -> list[types.FunctionCall]:
    """The calls of the event that a human or a job answers later."""
    calls = event.get_function_calls()
    if not calls:
        return calls
    awaited: Collection[str] = event.long_running_tool_ids or ()
    return [call for call in calls if call.id in awaited or call.name in _PAUSING]


def call_around(events: Sequence[Event], event: Event) -> Event | None:
    """The event with the call for which an event was made; of calls within calls the outermost.

    What happens within a call is work of a tool of the agent that made the call.
    """
    found = None
    ids = calls_around(event)
    end = next((i for i in range(len(events) - 1, -1, -1) if events[i] is event), len(events))
    for index in range(end - 1, -1, -1):  # a call comes before what is done for it
        if not ids:
            break
        if any(call.id in ids for call in events[index].get_function_calls()):
            found = events[index]
            ids = calls_around(found)
    return found


def is_work_of_a_tool(event: Event) -> bool:
    """Whether it was made within a call, by a tool of the agent that made the call."""
    return bool(calls_around(event))


def settled_calls(events: Sequence[Event]) -> set[str | None]:
    """The calls that have a result: their latest response does not stand for a question."""
    settled: set[str | None] = set()
    for event in events:
        if event.author != "user":
            settled |= {response.id for response in event.get_function_responses()}
            settled -= pending(event)
    return settled


def pending(event: Event) -> set[str | None]:
    """The calls whose responses only say that the user is asked first."""
    actions = event.actions
    return {*actions.requested_tool_confirmations, *actions.requested_auth_configs}


def answered_calls(events: Sequence[Event], *, by: str | None = None) -> set[str | None]:
    """The calls that were answered since they were made last: a node may use an id again."""
    answered: set[str | None] = set()
    for event in events:
        answered.difference_update(call.id for call in event.get_function_calls())
        if by in {None, event.author}:
            answered.update(response.id for response in event.get_function_responses())
    return answered


def awaits_user(ctx: InvocationContext, agents: Collection[str]) -> bool:
    """Whether the user has yet to answer a call that one of the agents, or a tool of it, made.

    What a tool gave in the meantime is no answer. What was asked for a task that is done is over.
    """
    if not ctx.history.unheard:
        return False  # quick to find out, and mostly so
    events: Sequence[Event] = ctx.history.events
    answered = answered_calls(events, by="user")
    done = answered - {None}
    events = [event for event in events if event.isolation_scope not in done]
    own = [event for event in events if event.author in agents]
    made = {call.id for event in own for call in event.get_function_calls()} - answered
    within = [event for event in events if not made.isdisjoint(calls_around(event))]
    return _is_open([*own, *within], answered)


def awaits_anyone(ctx: InvocationContext, agent: str) -> bool:
    """Whether a call that the agent made, and that is answered later, has no answer at all.

    One that has failed is not waited for.
    """
    if not ctx.history.unanswered:
        return False
    events = own_events(ctx)
    own = [event for event in _since(ctx, ctx.spoken_to_at, events) if event.author == agent]
    return _is_open(own, answered_calls(events) | _failed(events))


def has_work_below(ctx: InvocationContext, agent: str) -> bool:
    """Whether a call that the agent made stays open for what is done within it.

    An expert may wait for the user, or a node that a tool runs; so may a task.
    """
    if not ctx.history.has_unsettled(agent):
        return False
    events = own_events(ctx)
    # By words that it was told, or when it was tried again, it has let open calls be.
    begun = max(ctx.spoken_to_at or 0, ctx.tried_again_at(agent) or 0)
    return bool(_unanswered(_since(ctx, begun, events), agent, events))


def _since(ctx: InvocationContext, begun: int | None, events: list[Event]) -> list[Event]:
    """Those of the events that are not among the first so many of the session."""
    if not begun:
        return events
    before = set(map(id, ctx.session.events[ctx.history.begins_at : begun]))
    return [event for event in events if id(event) not in before]


def lost_calls(ctx: InvocationContext, agent: str) -> list[types.FunctionCall]:
    """The calls that the agent had made when its run broke off and that were never answered.

    Calls that wait for a human or a job are not lost, unless it is on record that they failed; nor
    are tasks that have begun.
    """
    if ctx.begun_at is None or not ctx.history.has_unsettled(agent):
        return []
    events = own_events(ctx)
    lost = _unanswered(own_events(ctx, ctx.begun_with), agent, events)
    return [call for call in lost if call.id not in ctx.history.scopes]


def _unanswered(
    before: Sequence[Event], agent: str, events: Sequence[Event]
) -> list[types.FunctionCall]:
    """The agent's latest calls of `before` that have no answer among the events."""
    index, made = _latest_calls(before, agent)
    if made is None or _has_moved_on(before[index + 1 :], agent):
        return []
    settled = answered_calls(events) | {call.id for call in pausing_calls(made)}
    settled -= _failed(before[index + 1 :]) | _to_be_asked_about(events)
    settled |= _asked_about(events)
    return [call for call in made.get_function_calls() if call.id not in settled]


def unheeded_answers(events: Sequence[Event], agent: str) -> set[str | None]:
    """The agent's questions about calls that the user has answered, and nothing came of it.

    As when the call failed or the process ended. An agent whose model has spoken since takes them
    for done with.
    """
    asked: dict[str | None, str] = {}
    answered: set[str | None] = set()
    for event in events:
        ids = {response.id for response in event.get_function_responses()}
        if event.author == "user":
            answered |= ids & asked.keys()
        if event.author != agent:
            continue
        if _has_moved_on([event], agent):
            answered.clear()
        anew = {call.id: about for call in event.get_function_calls() for about in subjects([call])}
        over = (ids - pending(event)).union(anew.values())
        asked = {each: about for each, about in asked.items() if about not in over} | anew
        answered &= asked.keys()
    return answered


def has_calls_to_run(ctx: InvocationContext, agent: str) -> bool:
    """Whether the agent has yet to run calls that were lost, or that the user has decided on."""
    if ctx.begun_at is None:
        return False
    return bool(lost_calls(ctx, agent) or unheeded_answers(own_events(ctx), agent))


def lost_code(ctx: InvocationContext, agent: str) -> str | None:
    """The code that the agent's model had written when its run broke off, if it has no result."""
    if ctx.begun_at is None:
        return None
    said = [event for event in own_events(ctx) if event.content]
    parts = (said[-1].content.parts if said and said[-1].content else None) or []
    code = parts[-1].executable_code if parts and said[-1].author == agent else None
    return code.code if code else None


def calls_around(event: Event) -> set[str]:
    """The ids of the calls within which an event was made: those in its branch, and in its place.

    An agent that is called has a branch `name@id`, the nodes that a tool runs a place below that.
    """
    branch, path = event.branch, event.node_info.path
    segments = branch.split(".") if branch and "@" in branch else []
    if path:
        segments = [*segments, *path.split("/")]
    runs = (segment.rpartition("@") for segment in segments)
    return {run for name, _, run in runs if name and not run.isdigit()}  # a number is a run's


def failed_calls(ctx: InvocationContext) -> set[str | None]:
    """The long-running calls on the branch that failed, and were not run again since."""
    return _failed(own_events(ctx))


def _is_open(events: Sequence[Event], answered: Collection[str | None]) -> bool:
    # A request that was repeated counts once, by the call that it is for.
    calls = [call for event in events for call in pausing_calls(event)]
    latest = {(call.name, next(subjects([call]), call.id)): call for call in calls}
    # What another server's agent has told twice is one call; what it gave so far is no answer.
    is_repeated = len(latest) < len({call.id for call in calls})
    settled = settled_calls(events) if is_repeated else ()
    return any(
        call.id not in answered and (original == call.id or original not in settled)
        for (_, original), call in latest.items()
    )


def _latest_calls(events: Sequence[Event], agent: str) -> tuple[int, Event | None]:
    for index in range(len(events) - 1, -1, -1):
        event = events[index]
        names = {call.name for call in event.get_function_calls()}
        if event.author == agent and names - _REQUESTS:
            return index, event
    return -1, None


def _has_moved_on(later: Sequence[Event], agent: str) -> bool:
    """Whether the agent's model has spoken since, and so takes the calls for done with."""
    return any(
        event.author == agent
        and event.content is not None
        and any(part.text and not part.thought for part in event.content.parts or [])
        and not event.get_function_responses()
        for event in later
    )


def _failed(later: Sequence[Event]) -> set[str | None]:
    failed: set[str | None] = set()
    for event in later:
        metadata = event.custom_metadata or {}
        failed.difference_update(metadata.get(WAITING_CALLS, ()))
        if event.error_code:
            failed.add(metadata.get(FAILED_CALL))
    return failed


def _to_be_asked_about(events: Sequence[Event]) -> set[str | None]:
    """The calls whose responses say that the user is asked first; the question may be lost.

    It follows upon such a response if other calls have results. One for a credential comes first.
    """
    wanted: set[str | None] = set()
    for event in events:
        wanted.update(event.actions.requested_tool_confirmations)
    return wanted - settled_calls(events) if wanted else wanted


def _asked_about(events: Sequence[Event]) -> set[str]:
    """The calls for which the user was asked for a confirmation or a credential."""
    return {found for event in events for found in subjects(event.get_function_calls())}


def subjects(calls: Sequence[types.FunctionCall]) -> Iterator[str]:
    """The calls for which these ask the user for a confirmation or a credential."""
    for call in calls:
        args = call.args or {}
        if call.name == REQUEST_CONFIRMATION:
            found = (args.get("originalFunctionCall") or {}).get("id")
        elif call.name == REQUEST_CREDENTIAL:
            found = args.get("functionCallId")
        else:
            continue
        if found:
            yield found
