"""The session stores, behind ADK's interface, so that one model can test each of them."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from devui.debugger.runs.commit import event_of
from devui.runtime.errors import AlreadyExistsError, SessionNotFoundError
from devui.runtime.events import Event
from devui.runtime.sessions import InMemorySessionService, Session, SqliteSessionService
from devui.runtime.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
)
from devui.store.errors import EventConflict, SessionExists, SessionNotFound
from devui.store.events import history
from devui.store.journal import Journal
from devui.store.rows import NewEvent, SessionRow
from devui.store.sqlite.checkup import check_journal
from devui.wire import events as wire
from tests.kit.journal_checks import delta_of

REFUSALS = (AlreadyExistsError, EventConflict, SessionExists)
MISSING = (SessionNotFoundError, SessionNotFound)


def new_event(event: Event) -> NewEvent:
    """Return the journal's event, as the server builds it from what a worker sends."""
    text = event.model_dump_json(by_alias=True, exclude_none=True)
    return event_of(wire.Event(text), final=event.is_final_response())


class JournalSessions(BaseSessionService):
    """The journal behind the interface that agents use for sessions."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
        events: Sequence[Event] = (),
    ) -> Session:
        """Create a session; `events` become its history, if given."""
        past = history([new_event(event) for event in events]) if events else None
        create = self.journal.sessions.create
        row = await create(app_name, user_id, session_id, state or {}, history=past)
        return await self._session(row, None)

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        row = await self.journal.sessions.find(app_name, user_id, session_id)
        recent = config.num_recent_events if config else None
        return None if row is None else await self._session(row, recent)

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        rows = await self.journal.sessions.list(app_name, user_id)
        return ListSessionsResponse(sessions=[await self._session(row, 0) for row in rows])

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        row = await self.journal.sessions.find(app_name, user_id, session_id)
        if row is not None:
            await self.journal.sessions.delete(row.key)

    async def append_event(self, session: Session, event: Event) -> Event:
        if event.partial:
            return event
        row = await self.journal.sessions.find(session.app_name, session.user_id, session.id)
        if row is None:
            raise SessionNotFound(session.id)
        lasting = {k: v for k, v in event.actions.state_delta.items() if not k.startswith("temp:")}
        actions = event.actions.model_copy(update={"state_delta": lasting})
        new = new_event(event.model_copy(update={"actions": actions}))
        done = await self.journal.events.append(row.key, new, None)
        if not done.duplicate or all(each.id != event.id for each in session.events):
            await super().append_event(session, event)
        return event

    async def _session(self, row: SessionRow, recent: int | None) -> Session:
        session = Session(id=row.id, app_name=row.app, user_id=row.user)
        session.state = await self.journal.state.merged(row.key)
        texts = [text async for text in self.journal.events.json(row.key, num_recent=recent)]
        session.events = [Event.model_validate_json(text) for text in texts]
        return session


@dataclass
class Place:
    """A store of sessions, and the guarantees that only some stores give."""

    folder: Path
    doors: list[BaseSessionService] = field(default_factory=list)
    """Service objects on the same sessions; each sees the changes of the others."""
    by_time = False
    """Whether events are ordered by time, not by append: google-adk reads the file that way."""
    refuses_stale = False
    """Whether a stale copy can't append."""
    refuses_other_content = True
    """Whether an event with a known id and other content is refused."""
    outlives = True
    """Whether sessions survive closing and reopening the store."""

    async def open(self) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError

    async def import_copy(self, source: Session, initial: dict[str, Any], name: str) -> Session:
        """Import a copy of the session under another id, by way of its events as JSON."""
        exported = [event.model_dump_json(by_alias=True) for event in source.events]
        where = {"app_name": source.app_name, "user_id": source.user_id, "session_id": name}
        events = [Event.model_validate_json(text) for text in exported]
        return await self._take(where, initial, events)

    async def _take(self, where: Any, initial: dict[str, Any], events: list[Event]) -> Session:
        session = await self.doors[0].create_session(**where, state=initial)
        for event in events:
            await self.doors[0].append_event(session, event)
        return session

    async def check(self) -> None:
        """Assert that the stored data is consistent."""


class Memory(Place):
    """`InMemorySessionService`."""

    refuses_other_content = False
    outlives = False

    async def open(self) -> None:
        self.doors = [InMemorySessionService()]

    async def close(self) -> None:
        pass


class File(Place):
    """`SqliteSessionService`."""

    by_time = True
    refuses_stale = True
    count = 1

    async def open(self) -> None:
        file = self.folder / "sessions.db"
        self.doors = [SqliteSessionService(file) for _ in range(self.count)]

    async def close(self) -> None:
        for door in self.doors:
            assert isinstance(door, SqliteSessionService)
            await door.close()

    async def check(self) -> None:
        with closing(sqlite3.connect(self.folder / "sessions.db")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


class SharedFile(File):
    """Two `SqliteSessionService`s on one file, as in two programs."""

    count = 2


class OurJournal(Place):
    """The server's journal."""

    async def open(self) -> None:
        self.journal = await Journal.open(self.folder)
        self.doors = [JournalSessions(self.journal)]

    async def close(self) -> None:
        await self.journal.close()

    async def _take(self, where: Any, initial: dict[str, Any], events: list[Event]) -> Session:
        [door] = self.doors
        assert isinstance(door, JournalSessions)
        return await door.create_session(**where, state=initial, events=events)

    async def check(self) -> None:
        report = check_journal(self.folder / "journal.db", delta_of)
        assert report.faults == []
        for row in await self.journal.sessions.recent(100):
            numbers = [event.number for event in await self.journal.events.since(row.key, 0)]
            assert numbers == list(range(1, row.events + 1))
            assert await self._paged(row.key, 1) == numbers

    async def _paged(self, key: int, size: int) -> list[int]:
        """Return the numbers of all events, read in pages from the newest to the oldest."""
        numbers: list[int] = []
        before = None
        while rows := await self.journal.events.page(key, before=before, limit=size):
            numbers = [row.number for row in rows] + numbers
            before = rows[0].seq
        return numbers
