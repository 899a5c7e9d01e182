"""Answers workers' requests to the journal, for sessions and artifacts."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from devui.debugger.events.artifact_parts import InvalidRequest, content_of, part_of
from devui.debugger.events.bus import Bus
from devui.debugger.events.news import News, SessionChanged
from devui.debugger.runs.commit import Commits, new_event
from devui.debugger.workers.workers import Worker
from devui.store.errors import SessionNotFound, StoreError
from devui.store.journal import Journal
from devui.store.rows import Appended, SessionRow
from devui.wire.artifacts import (
    DeleteArtifact,
    ListArtifacts,
    ListVersions,
    LoadArtifact,
    SaveArtifact,
)
from devui.wire.errors import AgentError
from devui.wire.framing import FrameTooLarge, WireError
from devui.wire.messages import (
    Append,
    CreateSession,
    DeleteSession,
    Failure,
    FetchEvents,
    FetchSession,
    ListSessions,
    Reply,
    Request,
)

_PAGE_EVENTS = 500
_PAGE_BYTES = 4 * 1024 * 1024


Handler = Callable[[str, Any], Awaitable[Any]]


def acknowledgement(appended: Appended) -> str:
    """Return the answer to a committed Append, as JSON."""
    fields = {"seq": appended.seq, "number": appended.number, "previous": appended.previous}
    return json.dumps(fields)


def error_of(error: Exception) -> AgentError:
    """Return an error of the server itself in the form of an agent's error."""
    return AgentError(type=type(error).__name__, message=str(error), traceback="")


def failure_of(error: Exception) -> Failure:
    """Return why a request was refused: the error's name in snake case, and its message."""
    name = type(error).__name__
    code = "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
    return Failure(code=code, message=str(error))


class Requests:
    """The handlers of workers' requests, by message type."""

    def __init__(self, journal: Journal, bus: Bus[News]) -> None:
        self._journal = journal
        self._bus = bus
        self._commits = Commits(journal, bus)
        self._handlers: dict[type[Any], Handler] = {
            Append: self._append,
            FetchSession: self._fetch_session,
            FetchEvents: self._fetch_events,
            CreateSession: self._create_session,
            ListSessions: self._list_sessions,
            DeleteSession: self._delete_session,
            SaveArtifact: self._save_artifact,
            LoadArtifact: self._load_artifact,
            ListArtifacts: self._list_artifacts,
            ListVersions: self._list_versions,
            DeleteArtifact: self._delete_artifact,
        }

    async def answer(self, app: str, message: Request) -> Reply:
        """Handle a request from a worker of `app`; the reply has the result or the failure."""
        try:
            result = await self._handlers[type(message)](app, message)
            return Reply(id=message.id, result=json.dumps(result))
        except (StoreError, WireError, ValueError) as error:
            return Reply(id=message.id, failure=failure_of(error))

    async def serve(self, worker: Worker, message: Request) -> None:
        """Answer a worker; if the answer is too large, send a failure instead."""
        reply = await self.answer(worker.app, message)
        try:
            await worker.send(reply)
        except FrameTooLarge as error:
            await worker.send(Reply(id=reply.id, failure=failure_of(error)))

    async def session(self, app: str, user: str, session: str) -> SessionRow:
        """Return the session with this id; raises SessionNotFound."""
        row = await self._journal.sessions.find(app, user, session)
        if row is None:
            raise SessionNotFound(f"there is no session {session!r} of user {user!r} in {app!r}")
        return row

    async def _append(self, app: str, message: Append) -> Any:
        row = await self.session(app, message.user, message.session)
        return json.loads(acknowledgement(await self._commits.commit(row.key, new_event(message))))

    # --- sessions --------------------------------------------------------------------------

    async def _fetch_session(self, app: str, message: FetchSession) -> Any:
        row = await self._journal.sessions.find(app, message.user, message.session)
        return None if row is None else await self._session(row)

    async def _session(self, row: SessionRow) -> dict[str, Any]:
        return {
            "key": row.key,
            "id": row.id,
            "user": row.user,
            "head": row.seq,
            "updated": row.updated,
            "events": row.events,
            "state": await self._journal.state.merged(row.key),
            "initial": await self._journal.sessions.initial_state(row.key),
        }

    async def _fetch_events(self, app: str, message: FetchEvents) -> Any:
        row = await self._journal.sessions.get(message.key)
        if row is None or row.app != app:
            raise SessionNotFound(f"there is no session {message.key} in {app!r}")
        page = await self._journal.events.following(message.key, message.after, _PAGE_EVENTS)
        events: list[str] = []
        size, after = 0, message.after
        for event_row, event in page:
            size += len(event.text)
            if events and size > _PAGE_BYTES:
                break
            events.append(event.text)
            after = event_row.seq
        more = len(events) < len(page) or len(page) == _PAGE_EVENTS
        return {"events": events, "after": after, "more": more}

    async def _create_session(self, app: str, message: CreateSession) -> Any:
        state = json.loads(message.state)
        if not isinstance(state, dict):
            raise InvalidRequest("the initial state must be a dict")
        row = await self._journal.sessions.create(app, message.user, message.session, state)
        return await self._session(row)

    async def _list_sessions(self, app: str, message: ListSessions) -> Any:
        rows = await self._journal.sessions.list(app, message.user)
        return [await self._session(row) for row in reversed(rows)]

    async def _delete_session(self, app: str, message: DeleteSession) -> Any:
        row = await self._journal.sessions.find(app, message.user, message.session)
        if row is not None:
            await self._journal.sessions.delete(row.key)
            self._bus.publish(row.key, SessionChanged(None))

    # --- artifacts -------------------------------------------------------------------------

    async def _save_artifact(self, app: str, message: SaveArtifact) -> Any:
        content = content_of(json.loads(message.part))
        return await self._journal.artifacts.save(
            app,
            message.user,
            message.session,
            message.filename,
            mime=content.mime,
            data=content.data,
            text=content.text,
            custom_metadata=json.loads(message.metadata) if message.metadata else None,
        )

    async def _load_artifact(self, app: str, message: LoadArtifact) -> Any:
        artifact = await self._journal.artifacts.load(
            app, message.user, message.session, message.filename, version=message.version
        )
        return None if artifact is None else part_of(artifact)

    async def _list_artifacts(self, app: str, message: ListArtifacts) -> Any:
        return await self._journal.artifacts.keys(app, message.user, message.session)

    async def _list_versions(self, app: str, message: ListVersions) -> Any:
        rows = await self._journal.artifacts.versions(
            app, message.user, message.session, message.filename
        )
        return [
            {
                "version": row.version,
                "mimeType": row.mime,
                "createTime": row.created,
                "customMetadata": json.loads(row.custom_metadata or "{}"),
            }
            for row in rows
        ]

    async def _delete_artifact(self, app: str, message: DeleteArtifact) -> Any:
        await self._journal.artifacts.delete(app, message.user, message.session, message.filename)
