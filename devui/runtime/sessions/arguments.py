"""What the methods of a service are given, checked (adk-runtime 2.3)."""

from collections.abc import Mapping
from typing import Any

from devui.runtime.mistakes import given
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
