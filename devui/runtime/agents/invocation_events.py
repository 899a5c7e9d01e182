"""The events of one invocation, and which of its calls are open (adk-runtime 4.1, 11.3)."""

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
    """What these functions read of an invocation: an InvocationContext, which stands above them."""

    @property
    def invocation_id(self) -> str:
        """Its id."""

    @property
    def session(self) -> Session:
        """The conversation, as far as it is committed."""

    @property
    def history(self) -> InvocationHistory:
        """The events of the invocation so far."""

    @property
    def agent(self) -> TreeMember | None:
        """The agent that runs."""

    @property
    def branch(self) -> str | None:
        """Where its events are made."""

    @property
    def node_path(self) -> str | None:
        """Where it is at work."""

    @property
    def isolation_scope(self) -> str | None:
        """The task that is carried out."""

    @property
    def has_begun(self) -> bool:
        """Whether it goes on from an earlier run."""

    @property
    def begun_at(self) -> int | None:
        """How many events the session had when the agent was taken up where it was."""

    @property
    def begun_with(self) -> int:
        """How many of the events were the invocation's then."""

    @property
    def spoken_to_at(self) -> int | None:
        """How many events it had when the user spoke to the agent."""

    def tried_again_at(self, name: str, /) -> int | None:
        """How many events it had when the agent was tried again."""


FINISH_TASK = "finish_task"
"""The tool by which an agent of mode `task` says that its task is done (adk-runtime 12.8)."""
TASK_DONE = "Task completed."
"""What that tool returns when it has taken the output."""


def finishing_response(event: Event) -> types.FunctionResponse | None:
    """The response by which the event ends a task."""
    for response in event.get_function_responses():
        if response.name == FINISH_TASK and (response.response or {}).get("result") == TASK_DONE:
            return response
    return None


def events_of(
    events: Sequence[Event], *, invocation_id: str | None = None, branch: str | None = None
) -> list[Event]:
    """The events of the invocation (None: of all) that were made on the branch (None: any).

    An agent's event must be on exactly that branch. A user's event may also be on none, above or
    below it; if it answers function calls, one of them must have been made there.
    """
    candidates = [e for e in events if invocation_id is None or e.invocation_id == invocation_id]
    return on_branch(candidates, branch, events)


def on_branch(
    candidates: Sequence[Event], branch: str | None, events: Sequence[Event]
) -> list[Event]:
    """Those of the candidates, events of a session, that were made on the branch (None: any)."""
    if branch is None:
        return list(candidates)
    user_events = [event for event in candidates if event.author == "user"]
    answered_ids = {each.id for event in user_events for each in event.get_function_responses()} - {
        None
    }
    if answered_ids:
        call_ids = {call.id for event in candidates for call in event.get_function_calls()}
        # A call is made in the invocation that gets the answer, unless others put it there.
        among = candidates if answered_ids <= call_ids else events
        within = (event for event in among if is_within(event.branch, branch))
        answered_ids.intersection_update(
            c.id for event in within for c in event.get_function_calls()
        )
    return [event for event in candidates if _is_on_branch(event, branch, answered_ids)]


def own_events(ctx: Invocation, until: int | None = None) -> list[Event]:
    """The events of the invocation on the agent's branch; of a node of a graph, those of its run.

    The same agent may run twice at a time there. What the user says is the run's if it answers one
    of its calls, or none at all. `until`: only so many of the invocation's events are looked at.
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
    """Whether the user says something to the agent of another task."""
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
    """The events of a place and those that answer calls that were made there, and all others."""
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
    outermost = None
    ids = calls_around(event)
    end = next((i for i in range(len(events) - 1, -1, -1) if events[i] is event), len(events))
    for index in range(end - 1, -1, -1):  # a call comes before what is done for it
        if not ids:
            break
        if any(call.id in ids for call in events[index].get_function_calls()):
            outermost = events[index]
            ids = calls_around(outermost)
    return outermost


def is_work_of_a_tool(event: Event) -> bool:
    """Whether it was made within a call, by a tool of the agent that made the call."""
    return bool(calls_around(event))


def settled_calls(events: Sequence[Event]) -> set[str | None]:
    """The calls that have a result: their latest response does not stand for a question."""
    settled_ids: set[str | None] = set()
    for event in events:
        if event.author != "user":
            settled_ids |= {response.id for response in event.get_function_responses()}
            settled_ids -= pending(event)
    return settled_ids


def pending(event: Event) -> set[str | None]:
    """The calls whose responses only say that the user is asked first."""
    actions = event.actions
    return {*actions.requested_tool_confirmations, *actions.requested_auth_configs}


def answered_calls(events: Sequence[Event], *, by: str | None = None) -> set[str | None]:
    """The calls that were answered since they were made last: a node may use an id again."""
    answered_ids: set[str | None] = set()
    for event in events:
        answered_ids.difference_update(call.id for call in event.get_function_calls())
        if by in {None, event.author}:
            answered_ids.update(response.id for response in event.get_function_responses())
    return answered_ids


def awaits_user(ctx: Invocation, agents: Collection[str]) -> bool:
    """Whether the user has yet to answer a call that one of the agents, or a tool of it, made.

    What a tool gave in the meantime is no answer. What was asked for a task that is done is over.
    """
    if not ctx.history.unheard:
        return False  # quick to find out, and mostly so
    events: Sequence[Event] = ctx.history.events
    answered_ids = answered_calls(events, by="user")
    done_scopes = answered_ids - {None}
    events = [event for event in events if event.isolation_scope not in done_scopes]
    own = [event for event in events if event.author in agents]
    call_ids = {call.id for event in own for call in event.get_function_calls()} - answered_ids
    within = [event for event in events if not call_ids.isdisjoint(calls_around(event))]
    return _is_open([*own, *within], answered_ids)


def awaits_anyone(ctx: Invocation, agent: str) -> bool:
    """Whether a call that the agent made, and that is answered later, has no answer at all.

    One that has failed is not waited for.
    """
    if not ctx.history.unanswered:
        return False
    events = own_events(ctx)
    own = [event for event in _since(ctx, ctx.spoken_to_at, events) if event.author == agent]
    return _is_open(own, answered_calls(events) | _failed(events))


def has_work_below(ctx: Invocation, agent: str) -> bool:
    """Whether a call that the agent made stays open for what is done within it.

    An expert may wait for the user, or a node that a tool runs; so may a task.
    """
    if not ctx.history.has_unsettled(agent):
        return False
    events = own_events(ctx)
    # By words that it was told, or when it was tried again, it has let open calls be.
    start = max(ctx.spoken_to_at or 0, ctx.tried_again_at(agent) or 0)
    return bool(_unanswered(_since(ctx, start, events), agent, events))


def _since(ctx: Invocation, start: int | None, events: list[Event]) -> list[Event]:
    """Those of the events that are not among the first so many of the session."""
    if not start:
        return events
    before = set(map(id, ctx.session.events[ctx.history.begins_at : start]))
    return [event for event in events if id(event) not in before]


def lost_calls(ctx: Invocation, agent: str) -> list[types.FunctionCall]:
    """The calls that the agent had made when its run broke off and that were never answered.

    Calls that wait for a human or a job are not lost, unless it is on record that they failed; nor
    are tasks that have begun.
    """
    if ctx.begun_at is None or not ctx.history.has_unsettled(agent):
        return []
    events = own_events(ctx)
    open_calls = _unanswered(own_events(ctx, ctx.begun_with), agent, events)
    return [call for call in open_calls if call.id not in ctx.history.scopes]


def _unanswered(
    before: Sequence[Event], agent: str, events: Sequence[Event]
) -> list[types.FunctionCall]:
    """The agent's latest calls of `before` that have no answer among the events."""
    index, call_event = _latest_calls(before, agent)
    if call_event is None or _has_moved_on(before[index + 1 :], agent):
        return []
    settled_ids = answered_calls(events) | {call.id for call in pausing_calls(call_event)}
    settled_ids -= _failed(before[index + 1 :]) | _to_be_asked_about(events)
    settled_ids |= _asked_about(events)
    return [call for call in call_event.get_function_calls() if call.id not in settled_ids]


def unheeded_answers(events: Sequence[Event], agent: str) -> set[str | None]:
    """The agent's questions about calls that the user has answered, and nothing came of it.

    As when the call failed or the process ended. An agent whose model has spoken since takes them
    for done with.
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
    """Whether the agent has yet to run calls that were lost, or that the user has decided on."""
    if ctx.begun_at is None:
        return False
    return bool(lost_calls(ctx, agent) or unheeded_answers(own_events(ctx), agent))


def lost_code(ctx: Invocation, agent: str) -> str | None:
    """The code that the agent's model had written when its run broke off, if it has no result."""
    if ctx.begun_at is None:
        return None
    messages = [event for event in own_events(ctx) if event.content]
    parts = (messages[-1].content.parts if messages and messages[-1].content else None) or []
    code = parts[-1].executable_code if parts and messages[-1].author == agent else None
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


def failed_calls(ctx: Invocation) -> set[str | None]:
    """The long-running calls on the branch that failed, and were not run again since."""
    return _failed(own_events(ctx))


def _is_open(events: Sequence[Event], answered_ids: Collection[str | None]) -> bool:
    # A request that was repeated counts once, by the call that it is for.
    calls = [call for event in events for call in pausing_calls(event)]
    latest = {(call.name, next(subjects([call]), call.id)): call for call in calls}
    # What another server's agent has told twice is one call; what it gave so far is no answer.
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
    call_ids: set[str | None] = set()
    for event in events:
        call_ids.update(event.actions.requested_tool_confirmations)
    return call_ids - settled_calls(events) if call_ids else call_ids


def _asked_about(events: Sequence[Event]) -> set[str]:
    """The calls for which the user was asked for a confirmation or a credential."""
    return {subject for event in events for subject in subjects(event.get_function_calls())}


def subjects(calls: Sequence[types.FunctionCall]) -> Iterator[str]:
    """The calls for which these ask the user for a confirmation or a credential."""
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


# The events of one invocation, as far as its session has them.
#
# Much asks for them at each step, and a session may be long, or the invocation itself; so each
# event is looked at once.


@dataclass(frozen=True, slots=True)
class CallPlace:
    """Where a call was made."""

    event: Event
    place: int
    """Of the event in the session."""
    index: int
    """Of the event in its invocation."""


class InvocationHistory:
    """What an invocation has come to; it grows with the list of its session's events."""

    def __init__(self, session: Sequence[Event], invocation_id: str, begins_at: int = 0) -> None:
        """Read the session; no event of the invocation is before that place."""
        self.events: list[Event] = []
        """Oldest first, without what was rewound; not to be changed, and goes on growing."""
        self.answers: list[Event] = []
        """Those by which the user has answered what was asked by the runtime's own calls."""
        self._heeded: dict[Hashable, int] = {}
        self.unsettled: dict[str | None, CallPlace] = {}
        """The calls that have no result: no response but one that stands for a question, or they
        have failed since."""
        self.unheard: set[str | None] = set()
        """The calls that a human or a job answers later, and the user has not answered since."""
        self.unanswered: set[str | None] = set()
        """Those of them that nobody has answered."""
        self.scopes: set[str | None] = set()
        """The tasks that have begun."""
        self.finishes: dict[str | None, Event] = {}
        """The latest event by which each task was finished."""
        self._awaited: dict[str | None, CallPlace] = {}
        self._session = session
        self._invocation_id = invocation_id
        self._count = len(session)
        """How many events of the session have been looked at."""
        self.begins_at = begins_at
        """Where in the session its events begin, or are going to."""
        own = live_events_of(session, invocation_id, begins_at)
        place = begins_at
        for event in own:
            place = next(i for i in range(place, self._count) if session[i] is event)
            if event is own[0]:
                self.begins_at = place
            self._take(event, place)

    def up_to_date(self, session: Sequence[Event], invocation_id: str) -> Self:
        """The history up to the last of these events; of another list one of its own."""
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
        """Whether nothing is left to be done about the answers, for who reads them."""
        return self._heeded.get(reader, 0) == len(self.answers)

    def heed(self, reader: Hashable) -> None:
        """Note that nothing is left to be done about the answers, up to now."""
        self._heeded[reader] = len(self.answers)

    def has_unsettled(self, agent: str) -> bool:
        """Whether a call that the agent has made has no result."""
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
    """The events of the invocation that no rewind has taken back; there are none before `start`."""
    rest = session[start:]
    live = live_events(rest)
    if live is not rest:  # something was rewound, perhaps from before
        live = live_events(session)
    return [event for event in live if event.invocation_id == invocation_id]
