"""An event that cannot be kept as it is, made one that can (R53, R54).

One odd value must not cost the event that it is in: with it would go the results of other calls,
and a resume would make these again. So texts that are none (halves of surrogate pairs, NULs in the
names of state keys) are spelled out, and what refers to itself, or breaks off while it is read, is
told by its repr.
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

# What services of one's own need to store sessions: google-adk's `_session_util`.
#
# State is sorted by scope and put into JSON's types; what was stored is read back (adk-runtime
# 2.3).


logger = logging.getLogger(__name__)

M = TypeVar("M", bound=BaseModel)


def extract_state_delta(state: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """The state of the scopes `app`, `user` and `session`, keys without prefix."""
    scoped = ScopedState.of(state or {})
    return {"app": scoped.app, "user": scoped.user, "session": scoped.session}


def make_json_safe_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """A state in JSON's types; what has no JSON form is kept as its repr, with a warning."""
    try:
        return dict(to_jsonable_python(dict(state), inf_nan_mode="null"))
    except (ValueError, TypeError):
        logger.warning("%s in the state has no JSON form; its repr is stored.", without_json(state))
        return dict(jsonable(dict(state), inf_nan_mode="null"))


def extract_json_safe_state_delta(state: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """The state by scope, as `extract_state_delta` has it, in JSON's types."""
    return make_json_safe_state(extract_state_delta(state))


def decode_model(data: object, model_cls: type[M]) -> M | None:
    """The object that stored data stands for; None for what can stand for none, such as a text."""
    if data is None or isinstance(data, str | bytes | int | float | list | tuple | set):
        return None
    return model_cls.model_validate(data)


_REPLACED = "\ufffd" * 3
"""What pydantic writes for half of a character in a key."""


def is_whole(text: str) -> bool:
    """Whether nothing was lost when the text was made, as JSON of an event."""
    return _REPLACED not in text


def read_iterators(event: Event) -> None:
    """Put lists in the place of the iterators in an event's output and state.

    An output is also the input of the next node, and a delta also becomes state.
    """
    if event.output is not None:
        event.output = storable(event.output)
    read_delta(event.actions.state_delta)


def read_delta(delta: dict[str, Any]) -> None:
    """Put lists in the place of the iterators in what is kept of a delta.

    Nothing else is set, since threads of the agent may write to the delta meanwhile.
    """
    for key, value in [*delta.items()]:
        if not key.startswith(State.TEMP_PREFIX) and (read := storable(value)) is not value:
            delta[key] = read


def make_storable(event: Event) -> None:
    """Change the event in place, where it has no form in JSON; the rest stays as it is."""
    event.output = _plain(event.output)
    event.custom_metadata = _plain(event.custom_metadata)
    delta = event.actions.state_delta  # in place: contexts that are open write to the same one
    spelled = {_spelled(key): _plain(value) for key, value in [*delta.items()]}
    delta.clear()
    delta.update(spelled)
    _spell_out(event)
    event.actions.state_delta = delta


def spelled_out(model: M) -> M:
    """A copy whose texts can be kept, whatever is in the model."""
    copy = model.model_copy(deep=True)
    _spell_out(copy)
    return copy


def _spell_out(model: BaseModel) -> None:
    """Make the values of a model's fields storable, whatever depth they are at."""
    fields = vars(model)
    for name, value in fields.items():
        fields[name] = _storable(value)  # as it was checked when the model was made


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
    """The value, or its repr if it has no form in JSON; texts are spelled out."""
    if isinstance(value, str):
        return sendable(value)
    try:
        to_json(value, serialize_unknown=True, by_alias=True)
    except (ValueError, RecursionError):
        return sendable(repr(value))
    return value


def _spelled(key: str) -> str:
    return sendable(key).replace("\0", "\\x00")
