"""What the methods of a service are given, checked (adk-runtime 2.3)."""

from collections.abc import Mapping
from typing import Any

from devui.runtime.events.event import Event
from devui.runtime.mistakes import given
from devui.runtime.sessions.session import Session
from devui.runtime.sessions.state import check_keys


def given_state(state: Mapping[str, Any] | None, name: str = "state") -> Mapping[str, Any]:
    """Values of state as they are given for the argument `name`; none if it is left out.

    Raises:
        TypeError: it is no mapping, or has a key that is no text.
    """
    if state and not isinstance(state, Mapping):
        raise TypeError(f'`{name}` is {given(state)}; give a dict, such as {{"user:name": "Ada"}}.')
    check_keys(state or ())
    return state or {}


def given_id(session_id: object) -> str:
    """The id of a session that is asked for, without outer space; blank if it is None.

    Raises:
        TypeError: it is no text.
    """
    if session_id is None:
        return ""
    if not isinstance(session_id, str):
        raise TypeError(f"`session_id` is {given(session_id)}; give the `id` of a session.")
    return session_id.strip()


def check_owner(app_name: object, user_id: object) -> None:
    """Refuse what cannot be the names of an app and a user.

    Raises:
        TypeError: one of them is no text.
    """
    for name, value in (("app_name", app_name), ("user_id", user_id)):
        if not isinstance(value, str):
            raise TypeError(f"`{name}` is {given(value)}; give a text.")


def check_commit(session: object, event: object) -> None:
    """Refuse to commit what is no event, or to what is no session.

    Raises:
        TypeError: it is something else.
    """
    if not isinstance(event, Event):
        raise TypeError(
            f"`event` is {given(event)}; give an Event, such as"
            ' Event(author="user", content=types.UserContent("...")).'
        )
    if not isinstance(session, Session):
        raise TypeError(
            f"`session` is {given(session)}; give what create_session or get_session has returned."
        )


def check_config(config: object) -> None:
    """Refuse plain values, which do not say how much of a history to read; tests have stand-ins.

    Raises:
        TypeError: it is one.
    """
    if isinstance(config, dict | list | tuple | str | int | float):
        raise TypeError(
            f"`config` is {given(config)}; give a GetSessionConfig(num_recent_events=...)."
        )
