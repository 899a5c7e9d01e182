"""`InMemorySessionService`: sessions that live as long as the process (adk-runtime 2.4)."""

import warnings
from collections import defaultdict
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from devui.runtime.copying import assign, copy_with
from devui.runtime.errors import AlreadyExistsError, SessionNotFoundError
from devui.runtime.events.event import Event
from devui.runtime.platform.time import get_time
from devui.runtime.platform.uuid import new_uuid
from devui.runtime.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
    check_commit,
    check_config,
    extend,
    given_id,
    given_state,
)
from devui.runtime.sessions.session import Session
from devui.runtime.sessions.state import ScopedState, detached

T = TypeVar("T")


class InMemorySessionService(BaseSessionService):
    """Stores sessions in dicts, for tests and development.

    A returned session has its own event list and state but shares the events. History only grows at
    its end, so a turn costs the same in a long session. Uncommitted changes to a returned state
    never affect the stored one.

    The `_sync` methods are deprecated; they raise RuntimeError in a subclass whose own method
    awaits something.
    """

    def __init__(self) -> None:
        self.sessions: dict[str, dict[str, dict[str, Session]]] = {}
        """Stored sessions by app, user and id; their state holds only the session scope."""
        self.user_state: dict[str, dict[str, dict[str, Any]]] = {}
        """State by app and user, keys without prefix."""
        self.app_state: dict[str, dict[str, Any]] = {}
        """State by app, keys without prefix."""
        self._event_ids_by_session: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
        """The ids of each session's events."""

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Create a session; a blank id becomes a UUID, others lose surrounding whitespace.

        Raises:
            AlreadyExistsError: The user has a session with that id.
        """
        initial_state = given_state(state)
        session_id = given_id(session_id) or new_uuid()
        user_sessions = self.sessions.setdefault(app_name, {}).setdefault(user_id, {})
        if session_id in user_sessions:
            raise AlreadyExistsError.of_session(session_id)
        session = Session(
            id=session_id, app_name=app_name, user_id=user_id, last_update_time=get_time()
        )
        user_sessions[session_id] = session
        if initial_state:
            session._initial_state = detached(initial_state)
        _write(self, session, detached(initial_state))
        return _handed_out(self, session, [])

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """Return the session, or None; the limit on events applies before the time filter."""
        check_config(config)
        session = _find_session(self, app_name, user_id, given_id(session_id))
        if session is None:
            return None
        return _handed_out(self, session, _select_events(session.events, config))

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        """Return the sessions without events, ordered by time of change, user and id."""
        users = self.sessions.get(app_name, {})
        listing = [
            _handed_out(self, session, [])
            for user, sessions in users.items()
            if user_id is None or user == user_id
            for session in sessions.values()
        ]
        listing.sort(key=lambda session: (session.last_update_time, session.user_id, session.id))
        return ListSessionsResponse(sessions=listing)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete the session; state of the user and the app stays."""
        session_id = given_id(session_id)
        self.sessions.get(app_name, {}).get(user_id, {}).pop(session_id, None)
        self._event_ids_by_session.pop((app_name, user_id, session_id), None)

    # Variants for code that can't await; deprecated, as in google-adk.

    def create_session_sync(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Call `create_session` without await."""
        return _at_once(
            self.create_session(
                app_name=app_name, user_id=user_id, state=state, session_id=session_id
            )
        )

    def get_session_sync(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """Call `get_session` without await."""
        return _at_once(
            self.get_session(
                app_name=app_name, user_id=user_id, session_id=session_id, config=config
            )
        )

    def list_sessions_sync(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        """Call `list_sessions` without await."""
        return _at_once(self.list_sessions(app_name=app_name, user_id=user_id))

    def delete_session_sync(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Call `delete_session` without await."""
        _at_once(self.delete_session(app_name=app_name, user_id=user_id, session_id=session_id))

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return a copy of the user's state, keys without prefix."""
        return detached(self.user_state.get(app_name, {}).get(user_id, {}))

    async def append_event(self, session: Session, event: Event) -> Event:
        """Commit the event to `session` and to the stored session.

        An event that is already stored with the same id and content is ignored, so a caller may
        retry. Raises SessionNotFoundError if the session doesn't exist.
        """
        check_commit(session, event)
        if event.partial:
            return event
        key = (session.app_name, session.user_id, session.id)
        stored_session = _find_session(self, *key)
        if stored_session is None:
            raise SessionNotFoundError(
                f"Session {session.id!r} of app {session.app_name!r} and user "
                f"{session.user_id!r} does not exist; it may have been deleted."
            )
        ids, event_id = self._event_ids_by_session[key], event.id
        if event_id in ids and _holds(stored_session.events, event):
            return event
        event = extend(self, session, event)
        ids.add(event_id)
        now = event.timestamp
        assign(session, last_update_time=now)
        if stored_session is not session:
            stored_session.events.append(event)
            assign(stored_session, last_update_time=now)
        if delta := event.actions.state_delta:
            _write(self, stored_session, delta)
        return event


def _handed_out(service: InMemorySessionService, session: Session, events: list[Event]) -> Session:
    state = ScopedState(
        app=service.app_state.get(session.app_name, {}),
        user=service.user_state.get(session.app_name, {}).get(session.user_id, {}),
        session=session.state,
    )
    # Skips validation, which would read every event.
    return copy_with(session, state=detached(state.as_dict()), events=list(events))


def _write(service: InMemorySessionService, session: Session, delta: Mapping[str, Any]) -> None:
    scoped = ScopedState.of(delta)
    session.state.update(scoped.session)
    if scoped.app:
        service.app_state.setdefault(session.app_name, {}).update(scoped.app)
    if scoped.user:
        users = service.user_state.setdefault(session.app_name, {})
        users.setdefault(session.user_id, {}).update(scoped.user)


def _find_session(
    service: InMemorySessionService, app_name: str, user_id: str, session_id: str
) -> Session | None:
    return service.sessions.get(app_name, {}).get(user_id, {}).get(session_id)


def _select_events(events: list[Event], config: GetSessionConfig | None) -> list[Event]:
    if config is None:
        return events
    if config.num_recent_events is not None:
        events = events[-config.num_recent_events :] if config.num_recent_events else []
    if config.after_timestamp is None:
        return events
    start = len(events)
    while start > 0 and events[start - 1].timestamp >= config.after_timestamp:
        start -= 1
    return events[start:]


def _holds(events: list[Event], event: Event) -> bool:
    return any(e is event or (e.id == event.id and e == event) for e in reversed(events))


def _at_once(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that waits for nothing, like this service's, and return its result."""
    warnings.warn("Await the method without `_sync`.", DeprecationWarning, stacklevel=3)
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    work.close()
    raise RuntimeError("A method of InMemorySessionService waits for something.")
