"""Events stay in the order in which they were committed (devui's own).

Files give events back by their times (adk-runtime 2.4), and clocks differ: where a session was
begun on a machine whose clock is ahead of this one, what is said now would stand amid what was said
before. Branches that run at the same time, too, commit events in another order than they make them.
"""

from devui.runtime.copying import filled
from devui.runtime.events.event import Event
from devui.runtime.sessions.session import Session

_STEP = 1e-5
"""Seconds between two events whose times had to be put in order."""


def in_order(session: Session, event: Event) -> Event:
    """The event, which is about to be committed, with a time not before the session's last one."""
    events = session.events
    if events and event.timestamp < (last := events[-1].timestamp):
        filled(event, timestamp=last + _STEP)
    return event
