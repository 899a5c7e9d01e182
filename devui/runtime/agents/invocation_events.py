"""The events of one invocation, and its open calls (adk-runtime 4.1, 11.3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from devui.runtime.agents.agent_tree import TreeMember, is_at_home, is_within
from devui.runtime.events.rewinds import live_events

if TYPE_CHECKING:
    from collections.abc import Hashable

    from google.genai import types

    from devui.runtime.events.event import Event
    from devui.runtime.sessions.session import Session


class Invocation(Protocol):
    """The part of InvocationContext that this module reads; that class is in a module above."""

    @property
    def invocation_id(self) -> str:
        """The id of the invocation."""

    @property
    def session(self) -> Session:
        """The conversation, with all events committed so far."""

    @property
    def history(self) -> InvocationHistory:
        """The events of the invocation so far."""

    @property
    def agent(self) -> TreeMember | None:
        """The agent that runs."""

    @property
    def branch(self) -> str | None:
        """The agent's branch."""

    @property
    def node_path(self) -> str | None:
        """The agent's place in the run or in a graph."""

    @property
    def isolation_scope(self) -> str | None:
        """The scope of the task being carried out."""

    @property
    def has_begun(self) -> bool:
        """Whether it continues earlier work."""

    @property
    def begun_at(self) -> int | None:
        """How many events the session had when the agent resumed its work."""

    @property
    def begun_with(self) -> int:
        """How many events of the invocation existed then."""

    @property
    def spoken_to_at(self) -> int | None:
        """How many events the session had when the user spoke to the agent."""

    def tried_again_at(self, name: str, /) -> int | None:
        """Return how many events the session had when the agent was last retried."""


FINISH_TASK = "finish_task"
"""The tool with which an agent of mode `task` finishes its task (adk-runtime 12.8)."""
TASK_DONE = "Task completed."
"""What that tool returns once it has accepted the output."""


def finishing_response(event: Event) -> types.FunctionResponse | None:
    """Return the response with which the event finishes a task, if any."""
    for response in event.get_function_responses():
        if response.name == FINISH_TASK and (response.response or {}).get("result") == TASK_DONE:
            return response
    return None


def events_of(
    events: Sequence[Event], *, invocation_id: str | None = None, branch: str | None = None
) -> list[Event]:
    """Return the events of the invocation (None: all) that were made on the branch (None: any).

    An agent's event must be on exactly that branch. A user's event may also be on none, or on one
    above or below it; if it answers function calls, one of them must have been made there.
    """
    candidates = [e for e in events if invocation_id is None or e.invocation_id == invocation_id]
    return on_branch(candidates, branch, events)


def on_branch(
    candidates: Sequence[Event], branch: str | None, events: Sequence[Event]
) -> list[Event]:
    """Return those of the candidates, a session's events, that are on the branch (None: any)."""
    if branch is None:
        return list(candidates)
    user_events = [event for event in candidates if event.author == "user"]
    answered_ids = {each.id for event in user_events for each in event.get_function_responses()} - {
        None
    }
    if answered_ids:
        call_ids = {call.id for event in candidates for call in event.get_function_calls()}
        # The calls are usually among the candidates; the whole session is searched only if not.
        among = candidates if answered_ids <= call_ids else events
        within = (event for event in among if is_within(event.branch, branch))
        answered_ids.intersection_update(
            c.id for event in within for c in event.get_function_calls()
        )
    return [event for event in candidates if _is_on_branch(event, branch, answered_ids)]


def own_events(ctx: Invocation, until: int | None = None) -> list[Event]:
    """Return the invocation's events on the agent's branch; for a node of a graph, of its run.

    In a graph, several runs of an agent may overlap. A user's event belongs to a run if it answers
    one of the run's calls or no call. `until` limits the search to that many of the invocation's
    first events.
    """
    events = on_branch(ctx.history.events[:until], ctx.branch, ctx.session.events)
    if ctx.has_begun:
        events = [event for event in events if not _is_word_to_other(event, ctx.isolation_scope)]
    path = ctx.node_path
    if not path or ctx.agent is None or is_at_home(path, ctx.agent.root_agent):
        return events
    own, _ = with_answers(events, lambda event: _is_of_run(event, path))
    return own


def _is_word_to_other(event: Event, scope: str | None) -> bool:
    """Return whether the user speaks to the agent of another task."""
    if event.author != "user" or event.isolation_scope in {None, scope}:
        return False
    return not event.get_function_responses()


def _is_of_run(event: Event, path: str) -> bool:
    if event.author != "user":
        return event.node_info.path == path
    return not event.get_function_responses()


def with_answers(
    events: Iterable[Event], is_own: Callable[[Event], bool]
) -> tuple[list[Event], list[Event]]:
    """Split the events: those of a place with the answers to calls made there, and all others."""
    own: list[Event] = []
    others: list[Event] = []
    calls: set[str | None] = set()
    for event in events:
        if is_own(event):
            calls.update([call.id for call in event.get_function_calls()])
            own.append(event)
        elif calls and any(each.id in calls for each in event.get_function_responses()):
            own.append(event)
        else:
            others.append(event)
    return own, others


def _is_on_branch(event: Event, branch: str, calls: set[str | None]) -> bool:
    if event.author != "user":
        return event.branch == branch
    answered_ids = {response.id for response in event.get_function_responses()} - {None}
    if answered_ids and answered_ids.isdisjoint(calls):
        return False
    where = event.branch
    return where is None or is_within(where, branch) or is_within(branch, where)


# Which function calls of an invocation have no answer yet (resume seed; adk-runtime 11.3).


REQUEST_CONFIRMATION = "adk_request_confirmation"
REQUEST_CREDENTIAL = "adk_request_credential"
REQUEST_INPUT = "adk_request_input"
REQUESTS = "adk_request_"
"""The prefix of the names of calls that ask the user something."""
FAILED_CALL = "__adk_internal_failed_call"
"""Key of custom metadata: the long-running call whose failure an error event records."""
WAITING_CALLS = "__adk_internal_waiting_calls"
"""Key of custom metadata: long-running calls that failed, were run again, and now wait."""

_REQUESTS = frozenset({REQUEST_CONFIRMATION, REQUEST_CREDENTIAL})
_PAUSING = frozenset({REQUEST_CREDENTIAL, REQUEST_INPUT})


def is_request(name: str | None) -> bool:
    """Return whether a call of that name asks the user something."""
    return (name or "").startswith(REQUESTS)


def pausing_calls(event: Event) -> list[types.FunctionCall]:
    """Return the calls of the event that a human or a job answers later."""
    calls = event.get_function_calls()
    if not calls:
        return calls
    awaited: Collection[str] = event.long_running_tool_ids or ()
    return [call for call in calls if call.id in awaited or call.name in _PAUSING]


def call_around(events: Sequence[Event], event: Event) -> Event | None:
    """Return the event with the call within which `event` was made, the outermost if nested.

    What happens within a call is the work of a tool of the agent that made the call.
    """
    outermost = None
    ids = calls_around(event)
    end = next((i for i in range(len(events) - 1, -1, -1) if events[i] is event), len(events))
    for index in range(end - 1, -1, -1):  # a call precedes the work within it
        if not ids:
            break
        if any(call.id in ids for call in events[index].get_function_calls()):
            outermost = events[index]
            ids = calls_around(outermost)
    return outermost


def is_work_of_a_tool(event: Event) -> bool:
    """Return whether the event was made within a call, by a tool of the agent that made it."""
    return bool(calls_around(event))


def settled_calls(events: Sequence[Event]) -> set[str | None]:
    """Return the calls that have a result: their latest response isn't a placeholder."""
    settled_ids: set[str | None] = set()
    for event in events:
        if event.author != "user":
            settled_ids |= {response.id for response in event.get_function_responses()}
            settled_ids -= pending(event)
    return settled_ids


def pending(event: Event) -> set[str | None]:
    """Return the calls whose responses are placeholders, because the user is asked first."""
    actions = event.actions
    return {*actions.requested_tool_confirmations, *actions.requested_auth_configs}


def answered_calls(events: Sequence[Event], *, by: str | None = None) -> set[str | None]:
    """Return the calls answered since they were last made; a node may use an id again.

    `by` limits the answers to those of that author.
    """
    answered_ids: set[str | None] = set()
    for event in events:
        answered_ids.difference_update(call.id for call in event.get_function_calls())
        if by in {None, event.author}:
            answered_ids.update(response.id for response in event.get_function_responses())
    return answered_ids


def awaits_user(ctx: Invocation, agents: Collection[str]) -> bool:
    """Return whether the user has yet to answer a call made by one of the agents or its tools.

    Interim results of a tool are no answer. Questions of a finished task no longer count.
    """
    if not ctx.history.unheard:
        return False  # the usual case, and quick to check
    events: Sequence[Event] = ctx.history.events
    answered_ids = answered_calls(events, by="user")
    done_scopes = answered_ids - {None}
    events = [event for event in events if event.isolation_scope not in done_scopes]
    own = [event for event in events if event.author in agents]
    call_ids = {call.id for event in own for call in event.get_function_calls()} - answered_ids
    within = [event for event in events if not call_ids.isdisjoint(calls_around(event))]
    return _is_open([*own, *within], answered_ids)


def awaits_anyone(ctx: Invocation, agent: str) -> bool:
    """Return whether a call by the agent that is answered later has no answer by anyone.

    Failed calls don't count.
    """
    if not ctx.history.unanswered:
        return False
    events = own_events(ctx)
    own = [event for event in _since(ctx, ctx.spoken_to_at, events) if event.author == agent]
    return _is_open(own, answered_calls(events) | _failed(events))


def has_work_below(ctx: Invocation, agent: str) -> bool:
    """Return whether a call by the agent stays open for work within it.

    An agent that it calls, a node that a tool runs, or a task may wait for the user.
    """
    if not ctx.history.has_unsettled(agent):
        return False
    events = own_events(ctx)
    # A message to the agent, or a retry, makes it give up the calls that were open before.
    start = max(ctx.spoken_to_at or 0, ctx.tried_again_at(agent) or 0)
    return bool(_unanswered(_since(ctx, start, events), agent, events))


def _since(ctx: Invocation, start: int | None, events: list[Event]) -> list[Event]:
    """Return the events without those among the session's first `start`."""
    if not start:
        return events
    before = set(map(id, ctx.session.events[ctx.history.begins_at : start]))
    return [event for event in events if id(event) not in before]


def lost_calls(ctx: Invocation, agent: str) -> list[types.FunctionCall]:
    """Return the agent's calls that were left without an answer when its run was interrupted.

    Calls that wait for a human or a job aren't lost unless their failure is recorded; nor are tasks
    that have begun.
    """
    if ctx.begun_at is None or not ctx.history.has_unsettled(agent):
        return []
    events = own_events(ctx)
    open_calls = _unanswered(own_events(ctx, ctx.begun_with), agent, events)
    return [call for call in open_calls if call.id not in ctx.history.scopes]


def _unanswered(
    before: Sequence[Event], agent: str, events: Sequence[Event]
) -> list[types.FunctionCall]:
    """Return the agent's latest calls in `before` that have no answer in `events`."""
    index, call_event = _latest_calls(before, agent)
    if call_event is None or _has_moved_on(before[index + 1 :], agent):
        return []
    settled_ids = answered_calls(events) | {call.id for call in pausing_calls(call_event)}
    settled_ids -= _failed(before[index + 1 :]) | _to_be_asked_about(events)
    settled_ids |= _asked_about(events)
    return [call for call in call_event.get_function_calls() if call.id not in settled_ids]


def unheeded_answers(events: Sequence[Event], agent: str) -> set[str | None]:
    """Return the agent's questions about calls that the user has answered without effect.

    That happens if the call failed or the process ended. Once the agent's model has spoken again,
    its earlier questions are settled.
    """
    questions: dict[str | None, str] = {}
    answered_ids: set[str | None] = set()
    for event in events:
        ids = {response.id for response in event.get_function_responses()}
        if event.author == "user":
            answered_ids |= ids & questions.keys()
        if event.author != agent:
            continue
        if _has_moved_on([event], agent):
            answered_ids.clear()
        anew = {call.id: about for call in event.get_function_calls() for about in subjects([call])}
        over = (ids - pending(event)).union(anew.values())
        questions = {each: about for each, about in questions.items() if about not in over} | anew
        answered_ids &= questions.keys()
    return answered_ids


def has_calls_to_run(ctx: Invocation, agent: str) -> bool:
    """Return whether the agent has calls to run that were lost or that the user decided on."""
    if ctx.begun_at is None:
        return False
    return bool(lost_calls(ctx, agent) or unheeded_answers(own_events(ctx), agent))


def lost_code(ctx: Invocation, agent: str) -> str | None:
    """Return the code that the agent's model wrote last, if an interruption left it unexecuted."""
    if ctx.begun_at is None:
        return None
    messages = [event for event in own_events(ctx) if event.content]
    parts = (messages[-1].content.parts if messages and messages[-1].content else None) or []
    code = parts[-1].executable_code if parts and messages[-1].author == agent else None
    return code.code if code else None


def calls_around(event: Event) -> set[str]:
    """Return the ids of the calls within which an event was made, from its branch and path.

    A called agent has a branch `name@id`; nodes that a tool runs have a path below that.
    """
    branch, path = event.branch, event.node_info.path
    segments = branch.split(".") if branch and "@" in branch else []
    if path:
        segments = [*segments, *path.split("/")]
    runs = (segment.rpartition("@") for segment in segments)
    return {run for name, _, run in runs if name and not run.isdigit()}  # a number counts runs


def failed_calls(ctx: Invocation) -> set[str | None]:
    """Return the long-running calls on the branch that failed and weren't run again since."""
    return _failed(own_events(ctx))


def _is_open(events: Sequence[Event], answered_ids: Collection[str | None]) -> bool:
    # A repeated request counts once, by the call it is for.
    calls = [call for event in events for call in pausing_calls(event)]
    latest = {(call.name, next(subjects([call]), call.id)): call for call in calls}
    # A call that a remote agent reported twice counts once; interim results are no answer.
    is_repeated = len(latest) < len({call.id for call in calls})
    settled_ids = settled_calls(events) if is_repeated else ()
    return any(
        call.id not in answered_ids and (original == call.id or original not in settled_ids)
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
    """Return whether the agent's model has spoken since, and so considers the calls done."""
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
    """Return the calls whose responses say that the user is asked first.

    The question itself may be lost: it follows such a response if other calls have results. A
    question for a credential precedes the response.
    """
    call_ids: set[str | None] = set()
    for event in events:
        call_ids.update(event.actions.requested_tool_confirmations)
    return call_ids - settled_calls(events) if call_ids else call_ids


def _asked_about(events: Sequence[Event]) -> set[str]:
    """Return the calls for which the user was asked for a confirmation or a credential."""
    return {subject for event in events for subject in subjects(event.get_function_calls())}


def subjects(calls: Sequence[types.FunctionCall]) -> Iterator[str]:
    """Yield the ids of the calls for which these ask for a confirmation or a credential."""
    for call in calls:
        args = call.args or {}
        if call.name == REQUEST_CONFIRMATION:
            call_id = (args.get("originalFunctionCall") or {}).get("id")
        elif call.name == REQUEST_CREDENTIAL:
            call_id = args.get("functionCallId")
        else:
            continue
        if call_id:
            yield call_id


# The events of one invocation, read from its session.
#
# They are needed several times per step, and the session and the invocation may be long, so each
# event is read once.


@dataclass(frozen=True, slots=True)
class CallPlace:
    """Where a call was made."""

    event: Event
    place: int
    """The index of the event in the session."""
    index: int
    """The index of the event in its invocation."""


class InvocationHistory:
    """The history of an invocation; it grows with the list of its session's events."""

    def __init__(self, session: Sequence[Event], invocation_id: str, begins_at: int = 0) -> None:
        """Read the session's events from `begins_at`; none of the invocation's is before that."""
        self.events: list[Event] = []
        """Oldest first, without rewound events. The list grows; callers must not change it."""
        self.answers: list[Event] = []
        """The user's events that answer the runtime's own calls."""
        self._heeded: dict[Hashable, int] = {}
        self.unsettled: dict[str | None, CallPlace] = {}
        """The calls without a result: they have no response other than a placeholder for a
        question, or they have failed since."""
        self.unheard: set[str | None] = set()
        """The calls that a human or a job answers later, and that the user hasn't answered
        since."""
        self.unanswered: set[str | None] = set()
        """The calls in `unheard` that nobody has answered."""
        self.scopes: set[str | None] = set()
        """The scopes of the tasks that have begun."""
        self.finishes: dict[str | None, Event] = {}
        """The latest event that finished each task, by scope."""
        self._awaited: dict[str | None, CallPlace] = {}
        self._session = session
        self._invocation_id = invocation_id
        self._count = len(session)
        """How many events of the session have been read."""
        self.begins_at = begins_at
        """The index in the session at which its events begin, or will begin."""
        own = live_events_of(session, invocation_id, begins_at)
        place = begins_at
        for event in own:
            place = next(i for i in range(place, self._count) if session[i] is event)
            if event is own[0]:
                self.begins_at = place
            self._take(event, place)

    def up_to_date(self, session: Sequence[Event], invocation_id: str) -> Self:
        """Return the history up to the last of these events; for another list, a new history."""
        count = len(session)
        is_same = session is self._session and invocation_id == self._invocation_id
        if not is_same or count < self._count:
            return type(self)(session, invocation_id)
        for place in range(self._count, count):
            if session[place].invocation_id == invocation_id:
                self._take(session[place], place)
        self._count = count
        return self

    def is_heeded(self, reader: Hashable) -> bool:
        """Return whether this reader has handled all answers so far."""
        return self._heeded.get(reader, 0) == len(self.answers)

    def mark_handled(self, reader: Hashable) -> None:
        """Record that this reader has handled all answers so far."""
        self._heeded[reader] = len(self.answers)

    def has_unsettled(self, agent: str) -> bool:
        """Return whether a call by the agent has no result."""
        return any(place.event.author == agent for place in self.unsettled.values())

    def _take(self, event: Event, place: int) -> None:
        self.events.append(event)
        self.scopes.add(event.isolation_scope)
        if calls := event.get_function_calls():
            self._take_calls(event, calls, CallPlace(event, place, len(self.events) - 1))
        if responses := event.get_function_responses():
            self._take_responses(event, {response.id for response in responses})
            if event.author == "user" and any(is_request(each.name) for each in responses):
                self.answers.append(event)
        failed = (event.custom_metadata or {}).get(FAILED_CALL) if event.error_code else None
        if failed is not None and failed in self._awaited:
            self.unsettled[failed] = self._awaited[failed]

    def _take_calls(self, event: Event, calls: list[types.FunctionCall], where: CallPlace) -> None:
        self.unsettled.update((call.id, where) for call in calls)
        self._awaited.update((call.id, where) for call in pausing_calls(event))
        again = {call.id for call in calls if call.id in self._awaited}  # an id may be used again
        self.unheard |= again
        self.unanswered |= again

    def _take_responses(self, event: Event, ids: set[str | None]) -> None:
        self.unanswered -= ids
        for call_id in ids - pending(event):
            self.unsettled.pop(call_id, None)
        if event.author == "user":
            self.unheard -= ids
        if finishing_response(event) is not None:
            self.finishes[event.isolation_scope] = event


def live_events_of(session: Sequence[Event], invocation_id: str, start: int) -> list[Event]:
    """Return the invocation's events, all at `start` or later, without rewound ones."""
    rest = session[start:]
    live = live_events(rest)
    if live is not rest:  # something was rewound, perhaps from before `start`
        live = live_events(session)
    return [event for event in live if event.invocation_id == invocation_id]
