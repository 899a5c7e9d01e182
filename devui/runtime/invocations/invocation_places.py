"""Where in a session an invocation has begun (devui's own)."""

from devui.runtime.sessions.beginnings import Beginnings
from devui.runtime.sessions.session import Session

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
        known = self._places.of(session)
        count, places = (known.count, known.known) if known else (0, {})
        for index in range(count, len(events)):
            places.setdefault(events[index].invocation_id, index)
        self._places.keep(session, places)
        return places.get(invocation_id, len(events))
