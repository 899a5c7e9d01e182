"""`SqliteSessionService`: sessions in a SQLite file that google-adk can read (adk-runtime 2.5)."""

import asyncio
import logging
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from devui.runtime.copying import assign
from devui.runtime.databases import Database, DatabasePath, give_way
from devui.runtime.events.event import Event
from devui.runtime.plain_threads import Call, Outcome
from devui.runtime.platform.time import get_time
from devui.runtime.platform.uuid import new_uuid
from devui.runtime.sessions import sqlite_rows
from devui.runtime.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
    check_commit,
    check_config,
    check_owner,
    extend,
    given_state,
)
from devui.runtime.sessions.session import Session
from devui.runtime.sessions.sqlite_event_cache import EventCache, GrowingSession
from devui.runtime.sessions.sqlite_rows import Key, Layout, StoredEvent, open_layout
from devui.runtime.sessions.state import ScopedState
from devui.runtime.sessions.storable import make_json_safe_state

logger = logging.getLogger(__name__)


class SqliteSessionService(BaseSessionService):
    """Stores sessions in one file, which several processes may use at the same time.

    Every change is on disk when its method returns. Files written by google-adk are used as they
    are, in either layout. A file is opened at its first use, which raises RuntimeError if it
    contains something else; `close` closes it.
    """

    _new_layout: ClassVar[Layout] = Layout.SECONDS
    _verbatim_ids: ClassVar[bool] = False

    def __init__(self, db_path: str | Path) -> None:
        """Use a file: a path, a `sqlite:///` URL, or `:memory:`; a missing file is created."""
        self._file_layout = self._new_layout
        self._events_of_file = EventCache()
        self._sessions_database = Database(DatabasePath.of(db_path), partial(_prepare, self))

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Create a session; a blank id becomes a UUID, others lose surrounding whitespace.

        Raises AlreadyExistsError if the id is taken.
        """
        check_owner(app_name, user_id)
        scoped = ScopedState.of(make_json_safe_state(given_state(state)))
        now = get_time()
        spare = Key(app_name, user_id, new_uuid())

        def job(connection: sqlite3.Connection) -> Session:
            own_key = _key(self, connection, app_name, user_id, session_id or "")
            key = own_key if own_key.id else spare
            session = sqlite_rows.insert_session(
                connection, self._file_layout, key, scoped, now=now
            )
            self._events_of_file.begins(connection, key)
            return session

        return await self._sessions_database.write(job)

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """Return the session, or None; the time filter applies before the limit on events."""
        check_config(config)

        def read(connection: sqlite3.Connection) -> Session | None:
            key = _key(self, connection, app_name, user_id, session_id)
            session = sqlite_rows.select_session(connection, key)
            if session is None:
                return None
            if config is None:
                session.events = self._events_of_file.read(connection, self._file_layout, key)
            else:
                session.events = sqlite_rows.select_events(
                    connection, self._file_layout, key, config
                )
            return session

        def read_little(connection: sqlite3.Connection) -> Session | None:
            if config is not None:
                return None
            key = _key(self, connection, app_name, user_id, session_id)
            return read(connection) if self._events_of_file.is_quick(connection, key) else None

        database = self._sessions_database
        return await database.peek(read_little) or await database.read(read)

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        """Return the sessions without events, ordered by time of change, user and id."""
        sessions = await self._sessions_database.read(
            lambda connection: sqlite_rows.select_sessions(connection, app_name, user_id)
        )
        return ListSessionsResponse(sessions=sessions)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete the session; state of the user and the app stays."""

        def job(connection: sqlite3.Connection) -> None:
            key = _key(self, connection, app_name, user_id, session_id)
            sqlite_rows.delete_session(connection, key)
            self._events_of_file.clear()

        await self._sessions_database.write(job)

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return the user's state, keys without prefix."""
        return await self._sessions_database.read(
            lambda connection: sqlite_rows.user_state(connection, app_name, user_id)
        )

    async def append_event(self, session: Session, event: Event) -> Event:
        """Commit the event to the file and to `session`.

        The same event again is ignored, so a caller may retry. If the caller is cancelled, the file
        and the session object stay consistent.

        Raises:
            SessionNotFoundError: The session doesn't exist.
            AlreadyExistsError: Another event of the session has that id.
            StaleSessionError: The session was changed since this copy of it was read.
        """
        check_commit(session, event)
        if event.partial:
            return event
        stored_event = StoredEvent.of(event)
        writing = _begin_commit(self, session, stored_event)
        if not isinstance(writing, Call) or writing.remainder is None:
            committed = _committed(self, session, event, stored_event, writing)
            await give_way()
            return committed
        try:
            await writing.remainder
        except asyncio.CancelledError:
            await asyncio.wait([writing.end_for_others()])
            if writing.error is None:
                _committed(self, session, event, stored_event, writing)
            else:
                logger.warning(
                    "Event %s of a cancelled run was not stored: %s", event.id, writing.error
                )
            raise
        return _committed(self, session, event, stored_event, writing)

    async def close(self) -> None:
        """Close the file; the next use reopens it (`:memory:` starts empty)."""
        await self._sessions_database.close()


def _key(
    service: SqliteSessionService,
    connection: sqlite3.Connection,
    app: str,
    user: str,
    session_id: str,
) -> Key:
    key = Key(app, user, session_id)
    return key if service._verbatim_ids else sqlite_rows.stored_key(connection, key)


def _prepare(service: SqliteSessionService, connection: sqlite3.Connection) -> None:
    service._events_of_file.clear()
    service._file_layout = open_layout(
        connection, service._new_layout, service._sessions_database.path.name
    )


def _committed(
    service: SqliteSessionService,
    session: Session,
    event: Event,
    stored_event: StoredEvent,
    writing: Outcome,
) -> Event:
    changed, growing = writing.value()
    if changed is None:
        if any(other.id == event.id for other in reversed(session.events)):
            return event
    else:
        service._events_of_file.record(growing, stored_event)
        assign(session, last_update_time=changed)
    return extend(service, session, event)


def _begin_commit(
    service: SqliteSessionService, session: Session, stored_event: StoredEvent
) -> Outcome:
    key = Key(session.app_name, session.user_id, session.id)
    last_seen = session.last_update_time

    def job(connection: sqlite3.Connection) -> tuple[float | None, GrowingSession]:
        changed = sqlite_rows.insert_event(
            connection, service._file_layout, key, stored_event, last_seen=last_seen
        )
        return changed, service._events_of_file.grows(key)

    return service._sessions_database.begin_write(job, size=len(stored_event.data))
