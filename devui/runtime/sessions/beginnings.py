"""What is known of the beginnings of sessions, so that only what came since is read (devui's own).

To look at each event of a long session takes longer than a turn, if only since the processor has to
fetch them all.
"""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from devui.runtime.sessions.session import Session

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Beginning(Generic[T]):
    """The first events of a session, and what has been found out about them."""

    count: int
    last_id: str
    """The id of the last of them: history changes only at its end, so all others are the same."""
    known: T


class Beginnings(Generic[T]):
    """Keeps something about the beginnings of the latest sessions."""

    def __init__(self, sessions: int) -> None:
        """Keep it of so many sessions, those asked for last."""
        self._limit = sessions
        self._kept: OrderedDict[Hashable, Beginning[T]] = OrderedDict()

    def of(self, session: Session) -> Beginning[T] | None:
        """The longest known beginning; None if the session is unknown, or another one by now."""
        key = session.app_name, session.user_id, session.id
        found = self._kept.get(key)
        if found is None:
            return None
        events, place = session.events, found.count - 1
        if place >= len(events) or events[place].id != found.last_id:
            return None
        self._kept.move_to_end(key)
        return found

    def keep(self, session: Session, known: T) -> None:
        """Keep what is known of all of the session's events so far."""
        if not session.events:
            return
        key = session.app_name, session.user_id, session.id
        self._kept[key] = Beginning(len(session.events), session.events[-1].id, known)
        self._kept.move_to_end(key)
        if len(self._kept) > self._limit:
            self._kept.popitem(last=False)
