"""Which events of a session belong to an invocation and a branch (adk-runtime 4.1)."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from devui.runtime.agents.branches import is_within
from devui.runtime.agents.node_paths import is_at_home

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event


class LatestAnswer:
    """What the user said last in an invocation, if it answers function calls.

    Asked at each step, so only new events are read: those that are committed do not change.
    """

    def __init__(self) -> None:
        self._event: Event | None = None
        self._events: Sequence[Event] = ()
        self._count = 0
        """How many of the events have been read."""
        self.ignored: Event | None = None
        """What the user said, but nothing new by that."""

    def among(self, events: "Sequence[Event]", invocation_id: str) -> "Event | None":
        """The latest event by the user in that invocation; None if it answers no call, or there is
        none. The invocation has to be the same each time.
        """
        count = len(events)
        if events is self._events and count == self._count:
            return self._event
        if events is not self._events or count < self._count:
            self._event, self._count = None, 0
        # From the end: a session may be long, and its last invocation is not.
        for number in range(count - 1, self._count - 1, -1):
            event = events[number]
            is_own = event.author == "user" and event.invocation_id == invocation_id
            if is_own and event is not self.ignored:
                self._event = event if event.get_function_responses() else None
                break
        self._events, self._count = events, count
        return self._event


def events_of(
    events: "Sequence[Event]", *, invocation_id: str | None = None, branch: str | None = None
) -> "list[Event]":
    """The events of the invocation (None: of all) that were made on the branch (None: any).

    An agent's event must be on exactly that branch. A user's event may also be on none, above or
    below it; if it answers function calls, one of them must have been made there.
    """
    chosen = [e for e in events if invocation_id is None or e.invocation_id == invocation_id]
    return on_branch(chosen, branch, events)


def on_branch(
    chosen: "Sequence[Event]", branch: str | None, events: "Sequence[Event]"
) -> "list[Event]":
    """Those of the chosen events of a session that were made on the branch (None: any)."""
    if branch is None:
        return list(chosen)
    said = [event for event in chosen if event.author == "user"]
    answered = {each.id for event in said for each in event.get_function_responses()} - {None}
    if answered:
        made = {call.id for event in chosen for call in event.get_function_calls()}
        # A call is made in the invocation that gets the answer, unless others put it there.
        among = chosen if answered <= made else events
        within = (event for event in among if is_within(event.branch, branch))
        answered.intersection_update(c.id for event in within for c in event.get_function_calls())
    return [event for event in chosen if _is_on_branch(event, branch, answered)]


def own_events(ctx: "InvocationContext", until: int | None = None) -> "list[Event]":
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


def _is_word_to_other(event: "Event", scope: str | None) -> bool:
    """Whether the user says something to the agent of another task."""
    if event.author != "user" or event.isolation_scope in {None, scope}:
        return False
    return not event.get_function_responses()


def _is_of_run(event: "Event", path: str) -> bool:
    if event.author != "user":
        return event.node_info.path == path
    return not event.get_function_responses()


def with_answers(
    events: "Iterable[Event]", is_own: "Callable[[Event], bool]"
) -> "tuple[list[Event], list[Event]]":
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


def _is_on_branch(event: "Event", branch: str, calls: set[str | None]) -> bool:
    if event.author != "user":
        return event.branch == branch
    answered = {response.id for response in event.get_function_responses()} - {None}
    if answered and answered.isdisjoint(calls):
        return False
    where = event.branch
    return where is None or is_within(where, branch) or is_within(branch, where)
