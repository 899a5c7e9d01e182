"""The events of one invocation, as far as its session has them (devui's own).

Much asks for them at each step, and a session may be long, or the invocation itself; so each event
is looked at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from devui.runtime.agents.open_calls import pausing_calls
from devui.runtime.events.rewinds import live_events

if TYPE_CHECKING:
    from collections.abc import Sequence

    from devui.runtime.events.event import Event


class InvocationHistory:
    """What an invocation has come to; it grows with the list of its session's events."""

    def __init__(
        self, session: Sequence[Event], count: int, invocation_id: str, own: Sequence[Event]
    ) -> None:
        """Begin with a session of `count` events, of which `own` are the invocation's."""
        self.events: list[Event] = []
        """Oldest first, without what was rewound; not to be changed, and goes on growing."""
        self.unheard: set[str | None] = set()
        """The calls that a human or a job answers later, and the user has not answered since."""
        self.unanswered: set[str | None] = set()
        """Those of them that nobody has answered."""
        self._awaited: set[str | None] = set()
        self._session = session
        self._count = count
        """How many events of the session have been looked at."""
        self._invocation_id = invocation_id
        for event in own:
            self._take(event)

    @classmethod
    def of(cls, session: Sequence[Event], invocation_id: str) -> Self:
        """The history of an invocation, found in its session."""
        return cls(session, len(session), invocation_id, live_events_of(session, invocation_id))

    def up_to_date(self, session: Sequence[Event], invocation_id: str) -> Self:
        """The history up to the last of these events; of another list one of its own."""
        count = len(session)
        known = session is self._session and invocation_id == self._invocation_id
        if not known or count < self._count:
            return self.of(session, invocation_id)
        if count > self._count:
            for event in session[self._count :]:
                if event.invocation_id == invocation_id:
                    self._take(event)
            self._count = count
        return self

    def _take(self, event: Event) -> None:
        self.events.append(event)
        for call in event.get_function_calls():
            if call.id in self._awaited:  # a node may use an id again
                self._wait_for(call.id)
        for call in pausing_calls(event):
            self._wait_for(call.id)
        for response in event.get_function_responses() if self.unheard else ():
            self.unanswered.discard(response.id)
            if event.author == "user":
                self.unheard.discard(response.id)

    def _wait_for(self, call_id: str | None) -> None:
        for calls in (self._awaited, self.unheard, self.unanswered):
            calls.add(call_id)


def live_events_of(session: Sequence[Event], invocation_id: str) -> list[Event]:
    """The events of the invocation that no rewind has taken back."""
    first = len(session)
    for index, event in enumerate(session):
        if event.invocation_id == invocation_id:
            first = index
            break
    rest = session[first:]
    live = live_events(rest)
    if live is not rest:  # something was rewound, perhaps from before
        live = live_events(session)
    return [event for event in live if event.invocation_id == invocation_id]
