"""`InMemoryMemoryService`: memories that live as long as the process (adk-runtime 10.2)."""

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime

from devui.runtime.events.event import Event
from devui.runtime.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from devui.runtime.memory.memory_entry import MemoryEntry
from devui.runtime.memory.search_text import runs, split
from devui.runtime.sessions.session import Session

_MAX_RESULTS = 10
_NO_SESSION = ""


class InMemoryMemoryService(BaseMemoryService):
    """Finds events that share words with the query; for tests and development."""

    def __init__(self) -> None:
        self._events_by_user: dict[tuple[str, str], dict[str, list[Event]]] = {}
        """Remembered events by app and user, then by session."""
        self._deleted_by_user: dict[tuple[str, str], set[str]] = {}
        """Ids of deleted memories, so that adding a session again does not restore them."""

    async def add_session_to_memory(self, session: Session) -> None:
        """Remember the session's events that have content."""
        user = (session.app_name, session.user_id)
        sessions = self._events_by_user.setdefault(user, {})
        sessions[session.id] = _memorable(self, user, session.events)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember the events that have content and are not remembered yet."""
        user = (app_name, user_id)
        stored_events = self._events_by_user.setdefault(user, {}).setdefault(
            session_id or _NO_SESSION, []
        )
        ids = {event.id for event in stored_events}
        for event in _memorable(self, user, events):
            if event.id not in ids:
                stored_events.append(event)
                ids.add(event.id)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return the ten events that share the most words with the query."""
        words = _words(query)
        scored = [
            (score, event)
            for events in self._events_by_user.get((app_name, user_id), {}).values()
            for event in events
            if (score := _score(words, _text(event)))
        ]
        scored.sort(key=lambda entry: -entry[0])  # stable: equal scores stay in order
        best = [entry_of(event) for _, event in scored[:_MAX_RESULTS]]
        return SearchMemoryResponse(memories=best)

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Forget the event with that id."""
        if not memory_id:
            return
        user = (app_name, user_id)
        for events in self._events_by_user.get(user, {}).values():
            remaining = [event for event in events if event.id != memory_id]
            if len(remaining) < len(events):
                self._deleted_by_user.setdefault(user, set()).add(memory_id)
                events[:] = remaining


def _memorable(
    service: InMemoryMemoryService, user: tuple[str, str], events: Sequence[Event]
) -> list[Event]:
    deleted = service._deleted_by_user.get(user, set())
    return [
        event
        for event in events
        if event.content and event.content.parts and event.id not in deleted
    ]


def entry_of(event: Event) -> MemoryEntry:
    """Convert an event with content to a memory."""
    assert event.content is not None  # noqa: S101  only events with content are remembered
    return MemoryEntry(
        id=event.id,
        content=event.content.model_copy(deep=True),
        author=event.author,
        timestamp=datetime.fromtimestamp(event.timestamp).isoformat(),
    )


def _text(event: Event) -> str:
    parts = (event.content.parts if event.content else None) or []
    return unicodedata.normalize("NFC", " ".join(part.text for part in parts if part.text)).lower()


def _words(text: str) -> set[str]:
    return set(split(unicodedata.normalize("NFC", text).lower()))


def _score(query: set[str], text: str) -> int:
    """Count the query's words in the text; words of scripts without spaces match anywhere."""
    words = _words(text)
    for word in [word for word in words if not word.isascii()]:
        words.update(runs(word))
    return sum(word in words or (not word.isascii() and word in text) for word in query)
