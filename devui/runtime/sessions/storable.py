"""Makes events storable that can't be stored as they are (R53, R54).

One odd value must not cost the whole event: the results of other calls would be lost with it, and
a resume would make those calls again. So text that isn't valid (lone surrogates, NULs in the names
of state keys) is escaped, and a value that refers to itself, or fails while it is read, is
replaced with its repr.
"""

import logging
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic_core import to_json, to_jsonable_python

from devui.runtime.events.event import Event
from devui.runtime.jsonable import jsonable, sendable, storable, walked
from devui.runtime.mistakes import without_json
from devui.runtime.sessions.state import ScopedState, State

# What custom services need to store sessions: google-adk's `_session_util`.
#
# State is split by scope and converted to JSON's types, and stored data is read back (adk-runtime
# 2.3).


logger = logging.getLogger(__name__)

M = TypeVar("M", bound=BaseModel)


def extract_state_delta(state: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """Return the state of the scopes `app`, `user` and `session`, keys without prefix."""
    scoped = ScopedState.of(state or {})
    return {"app": scoped.app, "user": scoped.user, "session": scoped.session}


def make_json_safe_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a state to JSON's types; what has no JSON form becomes its repr, with a warning."""
    try:
        return dict(to_jsonable_python(dict(state), inf_nan_mode="null"))
    except (ValueError, TypeError):
        what = without_json(state)
        logger.warning("%s in the state is not JSON-serializable; storing its repr.", what)
        return dict(jsonable(dict(state), inf_nan_mode="null"))


def extract_json_safe_state_delta(state: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """Return the state by scope, like `extract_state_delta`, in JSON's types."""
    return make_json_safe_state(extract_state_delta(state))


def decode_model(data: object, model_cls: type[M]) -> M | None:
    """Return the object that stored data represents; None for data such as a text, which can't."""
    if data is None or isinstance(data, str | bytes | int | float | list | tuple | set):
        return None
    return model_cls.model_validate(data)


_REPLACED = "\ufffd" * 3
"""What pydantic writes for a lone surrogate in a key."""


def is_whole(text: str) -> bool:
    """Return whether an event's JSON was written without loss."""
    return _REPLACED not in text


def read_iterators(event: Event) -> None:
    """Replace iterators in an event's output and state with lists.

    An output is also the input of the next node, and a delta also becomes state.
    """
    if event.output is not None:
        event.output = storable(event.output)
    read_delta(event.actions.state_delta)


def read_delta(delta: dict[str, Any]) -> None:
    """Replace iterators in the stored part of a delta with lists.

    Nothing else is set, since the agent's threads may write to the delta meanwhile.
    """
    for key, value in [*delta.items()]:
        if not key.startswith(State.TEMP_PREFIX) and (read := storable(value)) is not value:
            delta[key] = read


def make_storable(event: Event) -> None:
    """Change the parts of the event that have no JSON form, in place."""
    event.output = _plain(event.output)
    event.custom_metadata = _plain(event.custom_metadata)
    delta = event.actions.state_delta  # changed in place: open contexts write to the same dict
    spelled = {_spelled(key): _plain(value) for key, value in [*delta.items()]}
    delta.clear()
    delta.update(spelled)
    _spell_out(event)
    event.actions.state_delta = delta


def spelled_out(model: M) -> M:
    """Return a copy in which all texts can be stored, whatever the model contains."""
    copy = model.model_copy(deep=True)
    _spell_out(copy)
    return copy


def _spell_out(model: BaseModel) -> None:
    """Make the values of a model's fields storable, at any depth."""
    fields = vars(model)
    for name, value in fields.items():
        fields[name] = _storable(value)  # was validated when the model was made


def _storable(value: Any) -> Any:
    if isinstance(value, BaseModel):
        _spell_out(value)
    elif isinstance(value, list) and any(isinstance(each, BaseModel) for each in value):
        value[:] = map(_storable, value)
    elif isinstance(value, dict) and any(isinstance(each, BaseModel) for each in value.values()):
        return {_spelled(key): _storable(each) for key, each in value.items()}
    elif isinstance(value, set):
        return {_plain(each) for each in value}
    elif not isinstance(value, bytes):
        return _plain(value)
    return value


def _plain(value: Any) -> Any:
    try:
        if is_whole(to_json(value, by_alias=True).decode()):
            return value
    except (ValueError, RecursionError):
        pass
    return walked(value, _value_or_repr, _spelled)


def _value_or_repr(value: Any) -> Any:
    """Return the value, or its repr if it has no JSON form; lone surrogates are escaped."""
    if isinstance(value, str):
        return sendable(value)
    try:
        to_json(value, serialize_unknown=True, by_alias=True)
    except (ValueError, RecursionError):
        return sendable(repr(value))
    return value


def _spelled(key: str) -> str:
    return sendable(key).replace("\0", "\\x00")
