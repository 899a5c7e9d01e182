"""`BaseSessionService`: where sessions are kept (adk-runtime 2.3)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from devui.runtime.events.event import Event
from devui.runtime.mistakes import SpellCheckedModel, brief
from devui.runtime.sessions.session import Session
from devui.runtime.sessions.state import State, check_keys, detached

# Checks the arguments of a service's methods (adk-runtime 2.3).


def given_state(state: Mapping[str, Any] | None, name: str = "state") -> Mapping[str, Any]:
    """Return the state given for the argument `name`; empty if it was left out.

    Raises:
        TypeError: It isn't a mapping, or has a key that isn't a string.
    """
    if state and not isinstance(state, Mapping):
        raise TypeError(f'`{name}` is {brief(state)}; pass a dict, such as {{"user:name": "Ada"}}.')
    check_keys(state or ())
    return state or {}


def given_id(session_id: object) -> str:
    """Return the requested session's id without surrounding whitespace; empty if it is None.

    Raises:
        TypeError: It isn't a string.
    """
    if session_id is None:
        return ""
    if not isinstance(session_id, str):
        raise TypeError(f"`session_id` is {brief(session_id)}; pass the `id` of a session.")
    return session_id.strip()


def check_owner(app_name: object, user_id: object) -> None:
    """Raise TypeError unless the app name and the user id are strings."""
    for name, value in (("app_name", app_name), ("user_id", user_id)):
        if not isinstance(value, str):
            raise TypeError(f"`{name}` is {brief(value)}; pass a string.")


def check_commit(session: object, event: object) -> None:
    """Raise TypeError unless `event` is an Event and `session` a Session."""
    if not isinstance(event, Event):
        raise TypeError(
            f"`event` is {brief(event)}; pass an Event, such as"
            ' Event(author="user", content=types.UserContent("...")).'
        )
    if not isinstance(session, Session):
        raise TypeError(
            f"`session` is {brief(session)}; pass what create_session or get_session returned."
        )


def check_config(config: object) -> None:
    """Raise TypeError for a plain value, which can't be a config; stand-ins in tests are fine."""
    if isinstance(config, dict | list | tuple | str | int | float):
        raise TypeError(
            f"`config` is {brief(config)}; pass a GetSessionConfig(num_recent_events=...)."
        )


class GetSessionConfig(SpellCheckedModel):
    """How much of the history to read."""

    num_recent_events: int | None = Field(default=None, ge=0)
    """The maximum number of newest events to read; 0 reads none."""
    after_timestamp: float | None = None
    """Only events at or after this moment, in unix seconds."""


class ListSessionsResponse(BaseModel):
    """Sessions without their events, the least recently changed first."""

    sessions: list[Session] = Field(default_factory=list)
    """The sessions, with their state."""


class BaseSessionService(ABC):
    """Stores sessions; subclasses define the storage.

    State keys are scoped by prefix: `app:` keys are shared by the whole app, `user:` keys by all
    sessions of the user, `temp:` keys exist only in the session object and are never stored, and
    all others belong to the session. Reading merges the three stored scopes, with prefixes.
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
        """Return the session, or None if it doesn't exist."""

    @abstractmethod
    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        """Return the sessions of a user, or of all users."""

    @abstractmethod
    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete the session, if it exists."""

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return the user's state across sessions, keys without prefix."""
        raise NotImplementedError(f"{type(self).__name__} doesn't provide a user's state.")

    async def append_event(self, session: Session, event: Event) -> Event:
        """Commit `event` to the session object; storing services extend this.

        A partial event is returned untouched. Otherwise the delta is applied to `session.state`,
        its `temp:` keys are removed from the event, and the event joins `session.events`. Its delta
        becomes a copy: what the agent later changes in place in the live state is a new,
        uncommitted change and must not rewrite history.
        """
        return event if event.partial else extend(self, session, event)

    # The steps of a commit, which custom services call or override.

    def _apply_temp_state(self, session: Session, event: Event) -> None:
        """Apply the `temp:` keys of an event's delta to the session object; nothing stores them."""
        if event.actions.state_delta:
            session.state.update(_temporary(event, is_temporary=True))

    def _trim_temp_delta_state(self, event: Event) -> Event:
        """Remove the `temp:` keys from the event's delta."""
        if event.actions.state_delta:
            event.actions.state_delta = _temporary(event, is_temporary=False)
        return event

    def _update_session_state(self, session: Session, event: Event) -> None:
        """Apply an event's delta to the session object, and replace the delta with a copy."""
        if delta := event.actions.state_delta:
            session.state.update(delta)
            event.actions.state_delta = detached(delta)

    def _commit_event_to_session(self, session: Session, event: Event) -> Event:
        """Add a whole event, whose delta has no `temp:` keys, to the session object."""
        self._update_session_state(session, event)
        session.events.append(event)
        return event

    async def flush(self) -> None:  # noqa: B027  doing nothing is right for most
        """Write out buffered data; most services buffer none."""


def extend(service: BaseSessionService, session: Session, event: Event) -> Event:
    """Commit a whole event to the session object with the service's own steps (adk-runtime 2.3)."""
    if event.actions.state_delta:
        service._apply_temp_state(session, event)
        event = service._trim_temp_delta_state(event)
    return service._commit_event_to_session(session, event)


def _temporary(event: Event, *, is_temporary: bool) -> dict[str, Any]:
    """Return the keys of an event's delta that are never stored, or all others."""
    delta = event.actions.state_delta
    return {k: v for k, v in delta.items() if k.startswith(State.TEMP_PREFIX) is is_temporary}
