"""Caches for the sessions that were used last (devui's own).

A session only grows at its end, so what was made of it in one turn is useful in the next.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from devui.runtime.sessions.session import Session

# Data about the beginnings of sessions, so that only newer events need to be read.
#
# Reading every event of a long session takes longer than a turn, if only because the processor
# has to fetch them all.


K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Beginning(Generic[K]):
    """The first events of a session, and a value derived from them."""

    count: int
    last_id: str
    """The id of the last of them: history changes only at its end, so all others are the same."""
    value: K


class Beginnings(Generic[K]):
    """Keeps a value for the beginning of each of the latest sessions."""

    def __init__(self, sessions: int) -> None:
        """Keep values for that many sessions, the most recently used ones."""
        self._limit = sessions
        self._entries: OrderedDict[Hashable, Beginning[K]] = OrderedDict()

    def of(self, session: Session) -> Beginning[K] | None:
        """Return the longest known beginning; None if the session is unknown or was replaced."""
        key = session.app_name, session.user_id, session.id
        entry = self._entries.get(key)
        if entry is None:
            return None
        events, place = session.events, entry.count - 1
        if place >= len(events) or events[place].id != entry.last_id:
            return None
        self._entries.move_to_end(key)
        return entry

    def keep(self, session: Session, value: K) -> None:
        """Store a value derived from all of the session's events so far."""
        if not session.events:
            return
        key = session.app_name, session.user_id, session.id
        self._entries[key] = Beginning(len(session.events), session.events[-1].id, value)
        self._entries.move_to_end(key)
        if len(self._entries) > self._limit:
            self._entries.popitem(last=False)


# The index in a session at which an invocation begins.


_SESSIONS_KEPT = 16


class InvocationPlaces:
    """Finds invocations in sessions that grow at their ends; each event is read once."""

    def __init__(self) -> None:
        self._places: Beginnings[dict[str, int]] = Beginnings(_SESSIONS_KEPT)
        """The index of the first event of each invocation, per session."""

    def place_of(self, session: Session, invocation_id: str | None) -> int:
        """Return the index of the invocation's first event, or the index it will get."""
        events = session.events
        if invocation_id is None:
            return len(events)
        beginning = self._places.of(session)
        count, places = (beginning.count, beginning.value) if beginning else (0, {})
        for index in range(count, len(events)):
            places.setdefault(events[index].invocation_id, index)
        self._places.keep(session, places)
        return places.get(invocation_id, len(events))


_SESSIONS = 64
_EVENTS = 100_000
"""The limits of the cache: entries, and events unless a single entry holds more."""


class Sized(Protocol):
    """An entry of the cache, which reports its size."""

    def __len__(self) -> int:
        """Return the number of events, or of contents made from them."""
        ...


T = TypeVar("T", bound=Sized)


class LatestSessions:
    """A cache of objects made from sessions; keeps those that were used last."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Hashable, Any] = OrderedDict()
        self._last: object = None
        self._sizes: dict[Hashable, int] = {}
        """The size of each entry when it was last used after another one."""
        self._size = 0

    def of(self, session: Session, what: Hashable, kind: Callable[..., T], *arguments: object) -> T:
        """Return the entry of that name for this session, or create it."""
        key = (session.app_name, session.user_id, session.id, kind, what)
        value: T | None = self._entries.get(key)
        if value is None:
            value = self._entries[key] = kind(*arguments)
        if value is not self._last:  # a turn's steps ask for the same one
            self._last = value
            self._entries.move_to_end(key)
            self._weigh(key, len(value))
        return value

    def _weigh(self, key: Hashable, size: int) -> None:
        self._size += size - self._sizes.get(key, 0)
        self._sizes[key] = size
        while len(self._entries) > _SESSIONS or (self._size > _EVENTS and len(self._entries) > 1):
            oldest, _ = self._entries.popitem(last=False)
            self._size -= self._sizes.pop(oldest)
