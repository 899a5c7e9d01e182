"""What is committed comes last, also where a clock is behind (devui's own).

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


def in_order(session: Session, event: Event) -> Event:
    """The event, which is about to be committed; after the session's last one if that is ahead.

    A time that an agent has given its event is otherwise its own affair.
    """
    events = session.events
    if events and event.timestamp < (last := events[-1].timestamp) and last > get_time():
        filled(event, timestamp=last + _STEP)
    return event
