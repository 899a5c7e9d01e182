"""`Session`: one conversation (adk-runtime 2.1)."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr
from pydantic.alias_generators import to_camel

from devui.runtime.copying import assign
from devui.runtime.events.event import Event
from devui.runtime.platform.time import get_time


class Session(BaseModel):
    """The state and history of a conversation between a user and an app.

    A service returns a copy: the caller may change its event list and state, but not the events,
    which are shared.
    """

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=True, defer_build=True
    )

    id: str
    """Unique for the user and the app."""
    app_name: str
    """The app whose conversation it is."""
    user_id: str
    """The user whose conversation it is."""
    state: dict[str, Any] = Field(default_factory=dict)
    """All scopes in one; keys carry their prefix."""
    events: list[Event] = Field(default_factory=list)
    """Oldest first; changes only at its end."""
    last_update_time: float = 0.0
    """Unix seconds."""

    _initial_state: dict[str, Any] | None = PrivateAttr(default=None)
    """What the session was created with, if anything, as far as its service remembers."""
    _storage_update_marker: str | None = PrivateAttr(default=None)
    """What a service remembers of the stored revision, to notice a stale copy."""


# What a run commits comes last, also where the clock is behind.
#
# Files give events back by their times (adk-runtime 2.4), and clocks differ: where a session was
# begun on a machine whose clock is ahead of this one, or before a clock was set, what is said now
# would stand amid what was said before.


_STEP = 1e-5
"""Seconds between two events whose times had to be put in order."""


class CommitOrder:
    """Keeps the events of one run behind those that its session had, and one behind the other."""

    def __init__(self) -> None:
        self._began = get_time()
        self._is_ahead: bool | None = None
        """Whether the session was ahead of the clock when the run began."""
        self._ids: set[str] = set()
        """The ids of events of the session from where the run began, as far as they were asked."""
        self._count = 0

    def put(self, session: Session, event: Event) -> Event:
        """The event, which is about to be committed; after the last one, by its time too.

        Agents at work side by side make their events before those of others that are committed
        first. A time before the run is one that an agent has given its event, and its own affair,
        unless the session is ahead.
        """
        events = session.events
        last = events[-1].timestamp if events else event.timestamp
        if self._is_ahead is None:
            self._is_ahead, self._count = bool(events) and last > self._began, len(events)
        if event.timestamp >= last or self._is_committed(event, events):
            return event
        if self._is_ahead or event.timestamp >= self._began:
            assign(event, timestamp=last + _STEP)
        return event

    def _is_committed(self, event: Event, events: Sequence[Event]) -> bool:
        """Whether the run has committed it; who tries one again changes nothing."""
        self._ids.update([each.id for each in events[self._count :]])
        self._count = len(events)
        return event.id in self._ids
