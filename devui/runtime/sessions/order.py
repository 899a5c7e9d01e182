"""What a run commits comes last, also where the clock is behind (devui's own).

Files give events back by their times (adk-runtime 2.4), and clocks differ: where a session was
begun on a machine whose clock is ahead of this one, or before a clock was set, what is said now
would stand amid what was said before.
"""

from devui.runtime.copying import filled
from devui.runtime.events.event import Event
from devui.runtime.platform.time import get_time
from devui.runtime.sessions.session import Session

_STEP = 1e-5
"""Seconds between two events whose times had to be put in order."""


class CommitOrder:
    """Keeps the events of one run behind those that its session had."""

    def __init__(self) -> None:
        self._is_ahead: bool | None = None
        """Whether the session was ahead of the clock when the run committed its first event."""
        self._seen: set[str] = set()
        """The ids of what the run has committed there; who tries one again changes nothing."""

    def put(self, session: Session, event: Event) -> Event:
        """The event, which is about to be committed; after the last one if the session is ahead.

        A time that an agent has given its event is otherwise its own affair.
        """
        events = session.events
        if self._is_ahead is None:
            self._is_ahead = bool(events) and events[-1].timestamp > get_time()
        if self._is_ahead and events and event.id not in self._seen:
            self._seen.add(event.id)
            if event.timestamp < (last := events[-1].timestamp):
                filled(event, timestamp=last + _STEP)
        return event
