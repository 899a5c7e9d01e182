"""What is kept of the sessions that were worked for last (devui's own).

A session only grows at its end, so what was made of it for one turn is of use for the next.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from devui.runtime.sessions.session import Session

# What is known of the beginnings of sessions, so that only what came since is read.
#
# To look at each event of a long session takes longer than a turn, if only since the processor
# has to fetch them all.


K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Beginning(Generic[K]):
    """The first events of a session, and what has been found out about them."""

    count: int
    last_id: str
    """The id of the last of them: history changes only at its end, so all others are the same."""
    value: K


class Beginnings(Generic[K]):
    """Keeps something about the beginnings of the latest sessions."""

    def __init__(self, sessions: int) -> None:
        """Keep it of so many sessions, those asked for last."""
        self._limit = sessions
        self._entries: OrderedDict[Hashable, Beginning[K]] = OrderedDict()

    def of(self, session: Session) -> Beginning[K] | None:
        """The longest known beginning; None if the session is unknown, or another one by now."""
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
        """Keep what is known of all of the session's events so far."""
        if not session.events:
            return
        key = session.app_name, session.user_id, session.id
        self._entries[key] = Beginning(len(session.events), session.events[-1].id, value)
        self._entries.move_to_end(key)
        if len(self._entries) > self._limit:
            self._entries.popitem(last=False)


# Where in a session an invocation has begun.


_SESSIONS_KEPT = 16


class InvocationPlaces:
    """Finds invocations in sessions that grow at their ends; each event is looked at once."""

    def __init__(self) -> None:
        self._places: Beginnings[dict[str, int]] = Beginnings(_SESSIONS_KEPT)
        """For each invocation of a session, where its first event is."""

    def place_of(self, session: Session, invocation_id: str | None) -> int:
        """Where the session's first event of the invocation is; of a new one, where it will be."""
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
"""How much is kept: so many things, and so many events unless one thing holds more."""


class Sized(Protocol):
    """What is kept: it tells how much it holds."""

    def __len__(self) -> int:
        """How many events, or contents made of them."""
        ...


T = TypeVar("T", bound=Sized)


class LatestSessions:
    """Things made of sessions, those that were asked for last."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Hashable, Any] = OrderedDict()
        self._last: object = None
        self._sizes: dict[Hashable, int] = {}
        """What each held when it was asked for after another."""
        self._size = 0

    def of(self, session: Session, what: Hashable, kind: Callable[..., T], *arguments: object) -> T:
        """What was made of this session by that name, or a new one."""
        key = (session.app_name, session.user_id, session.id, kind, what)
        value: T | None = self._entries.get(key)
        if value is None:
            value = self._entries[key] = kind(*arguments)
        if value is not self._last:  # else it is asked for at each step of a turn
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
