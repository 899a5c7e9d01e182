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

    def __init__(self, session: Sequence[Event], invocation_id: str, begins_at: int = 0) -> None:
        """Read the session; no event of the invocation is before that place."""
        self.events: list[Event] = []
        """Oldest first, without what was rewound; not to be changed, and goes on growing."""
        self.unheard: set[str | None] = set()
        """The calls that a human or a job answers later, and the user has not answered since."""
        self.unanswered: set[str | None] = set()
        """Those of them that nobody has answered."""
        self._awaited: set[str | None] = set()
        self._session = session
        self._invocation_id = invocation_id
        self._count = len(session)
        """How many events of the session have been looked at."""
        self.begins_at = begins_at
        """Where in the session its events begin, or are going to."""
        own = live_events_of(session, invocation_id, begins_at)
        if own:
            self.begins_at = next(i for i in range(begins_at, self._count) if session[i] is own[0])
        for event in own:
            self._take(event)

    def up_to_date(self, session: Sequence[Event], invocation_id: str) -> Self:
        """The history up to the last of these events; of another list one of its own."""
        count = len(session)
        known = session is self._session and invocation_id == self._invocation_id
        if not known or count < self._count:
            return type(self)(session, invocation_id)
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


def live_events_of(session: Sequence[Event], invocation_id: str, start: int) -> list[Event]:
    """The events of the invocation that no rewind has taken back; there are none before `start`."""
    rest = session[start:]
    live = live_events(rest)
    if live is not rest:  # something was rewound, perhaps from before
        live = live_events(session)
    return [event for event in live if event.invocation_id == invocation_id]
