"""The events of one invocation, as far as its session has them (devui's own).

Much asks for them at each step, and a session may be long, or the invocation itself; so each event
is looked at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from devui.runtime.agents.open_calls import FAILED_CALL, is_request, pausing_calls, pending
from devui.runtime.events.rewinds import live_events
from devui.runtime.tools.finish_task_tool import finishing_response

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from google.genai import types

    from devui.runtime.events.event import Event


@dataclass(frozen=True, slots=True)
class Made:
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
        self.unsettled: dict[str | None, Made] = {}
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
        self._awaited: dict[str | None, Made] = {}
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
        known = session is self._session and invocation_id == self._invocation_id
        if not known or count < self._count:
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
        return any(made.event.author == agent for made in self.unsettled.values())

    def _take(self, event: Event, place: int) -> None:
        self.events.append(event)
        self.scopes.add(event.isolation_scope)
        if calls := event.get_function_calls():
            self._take_calls(event, calls, Made(event, place, len(self.events) - 1))
        if responses := event.get_function_responses():
            self._take_responses(event, {response.id for response in responses})
            if event.author == "user" and any(is_request(each.name) for each in responses):
                self.answers.append(event)
        failed = (event.custom_metadata or {}).get(FAILED_CALL) if event.error_code else None
        if failed is not None and failed in self._awaited:
            self.unsettled[failed] = self._awaited[failed]

    def _take_calls(self, event: Event, calls: list[types.FunctionCall], made: Made) -> None:
        self.unsettled.update((call.id, made) for call in calls)
        self._awaited.update((call.id, made) for call in pausing_calls(event))
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
