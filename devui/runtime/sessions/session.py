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
    """The app that the session belongs to."""
    user_id: str
    """The user that the session belongs to."""
    state: dict[str, Any] = Field(default_factory=dict)
    """All scopes in one; keys carry their prefix."""
    events: list[Event] = Field(default_factory=list)
    """Oldest first; changes only at its end."""
    last_update_time: float = 0.0
    """Unix seconds."""

    _initial_state: dict[str, Any] | None = PrivateAttr(default=None)
    """The state that the session was created with, if any and if its service remembers."""
    _storage_update_marker: str | None = PrivateAttr(default=None)
    """A service's mark of the stored revision, by which it notices a stale copy."""


# Keeps a run's commits last, even if the clock is behind.
#
# Files return events in order of time (adk-runtime 2.4), and clocks differ: if a session began on
# a machine whose clock is ahead of this one, or before a clock was set back, new events would
# appear among older ones.


_STEP = 1e-5
"""Seconds between two events whose times had to be put in order."""


class CommitOrder:
    """Keeps the events of one run in order, after those that the session already had."""

    def __init__(self) -> None:
        self._began = get_time()
        self._is_ahead: bool | None = None
        """Whether the session was ahead of the clock when the run began."""
        self._ids: set[str] = set()
        """The ids of the session's events since the run began, as far as they have been read."""
        self._count = 0

    def put(self, session: Session, event: Event) -> Event:
        """Return the event to commit, with its time moved behind the last event's if necessary.

        Agents that run in parallel may create an event before another one that is committed first.
        A time before the run was set by the agent and stays as it is, unless the session is ahead
        of the clock.
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
        """Return whether the run has committed the event; a retry changes nothing."""
        self._ids.update([each.id for each in events[self._count :]])
        self._count = len(events)
        return event.id in self._ids
