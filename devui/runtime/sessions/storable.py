"""An event that cannot be kept as it is, made one that can (R53, R54).

One odd value must not cost the event that it is in: with it would go the results of other calls,
and a resume would make these again. So texts that are none (halves of surrogate pairs, NULs in the
names of state keys) are spelled out, and what refers to itself, or breaks off while it is read, is
told by its repr.
"""

from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic_core import to_json

from devui.runtime.events.event import Event
from devui.runtime.halves import sendable
from devui.runtime.iterators import kept
from devui.runtime.jsonable import walked
from devui.runtime.sessions.state import State

M = TypeVar("M", bound=BaseModel)

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
        event.output = kept(event.output)
    read_delta(event.actions.state_delta)


def read_delta(delta: dict[str, Any]) -> None:
    """Put lists in the place of the iterators in what is kept of a delta.

    Nothing else is set, since threads of the agent may write to the delta meanwhile.
    """
    for key, value in [*delta.items()]:
        if not key.startswith(State.TEMP_PREFIX) and (read := kept(value)) is not value:
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
    copied = model.model_copy(deep=True)
    _spell_out(copied)
    return copied


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
    return walked(value, _told, _spelled)


def _told(value: Any) -> Any:
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
