"""`BaseSessionService`: where sessions are kept (adk-runtime 2.3)."""

from abc import ABC, abstractmethod
from typing import Any

from pydantic import BaseModel, Field

from devui.runtime.events.event import Event
from devui.runtime.ignored import Spelt
from devui.runtime.sessions.copies import detached
from devui.runtime.sessions.session import Session
from devui.runtime.sessions.state import State


class GetSessionConfig(Spelt):
    """How much of the history to read."""

    num_recent_events: int | None = Field(default=None, ge=0)
    """Only the newest so many; 0 reads none."""
    after_timestamp: float | None = None
    """Only events at or after this moment, in unix seconds."""


class ListSessionsResponse(BaseModel):
    """Sessions without their events, the least recently changed first."""

    sessions: list[Session] = Field(default_factory=list)
    """With their state."""


class BaseSessionService(ABC):
    """Keeps sessions; a subclass per kind of storage.

    Keys of state are routed by prefix: `app:` is shared by all of the app, `user:` by all sessions
    of the user, `temp:` lives in the session object alone and is never stored, all other keys
    belong to the session. On reading the three stored scopes are merged, with prefixes.
    """

    @abstractmethod
    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Create a session; raises AlreadyExistsError if the id is taken."""

    @abstractmethod
    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """The session, or None if there is none."""

    @abstractmethod
    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        """The sessions of a user, or of all users."""

    @abstractmethod
    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete the session; does nothing if there is none."""

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """The user's state across sessions, keys without prefix."""
        raise NotImplementedError(f"{type(self).__name__} does not tell a user's state.")

    async def append_event(self, session: Session, event: Event) -> Event:
        """Commit `event` to the session object; storing services extend this.

        A partial event is returned untouched. Otherwise the delta is applied to `session.state`,
        its `temp:` keys are taken out of the event, and the event joins `session.events`. The
        event's delta becomes a copy: what the agent later changes in place in the live state is
        a new, uncommitted change and must not rewrite history.
        """
        return event if event.partial else extend(self, session, event)

    # The steps of it, which services of one's own take by themselves, or override

    def _apply_temp_state(self, session: Session, event: Event) -> None:
        """Give the session object the `temp:` keys of an event's delta, as nothing else will."""
        if event.actions.state_delta:
            session.state.update(_temporary(event, wanted=True))

    def _trim_temp_delta_state(self, event: Event) -> Event:
        """The event, its delta without `temp:` keys."""
        if event.actions.state_delta:
            event.actions.state_delta = _temporary(event, wanted=False)
        return event

    def _update_session_state(self, session: Session, event: Event) -> None:
        """Give the session object an event's delta, which becomes a copy."""
        if delta := event.actions.state_delta:
            session.state.update(delta)
            event.actions.state_delta = detached(delta)

    def _commit_event_to_session(self, session: Session, event: Event) -> Event:
        """Give the session object a whole event, whose delta has no `temp:` keys."""
        self._update_session_state(session, event)
        session.events.append(event)
        return event

    async def flush(self) -> None:  # noqa: B027  doing nothing is right for most
        """Write out what is buffered; most services buffer nothing."""


def extend(service: BaseSessionService, session: Session, event: Event) -> Event:
    """Commit a whole event to the session object, in the steps of the service (adk-runtime 2.3)."""
    if event.actions.state_delta:
        service._apply_temp_state(session, event)
        event = service._trim_temp_delta_state(event)
    return service._commit_event_to_session(session, event)


def _temporary(event: Event, *, wanted: bool) -> dict[str, Any]:
    """The keys of an event's delta that are never stored, or all others."""
    delta = event.actions.state_delta
    return {k: v for k, v in delta.items() if k.startswith(State.TEMP_PREFIX) is wanted}
