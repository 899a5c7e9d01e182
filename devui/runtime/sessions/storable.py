"""An event that cannot be kept as it is, made one that can (R53, R54).

One odd value must not cost the event that it is in: with it would go the results of other calls,
and a resume would make these again. So texts that are none (halves of surrogate pairs, NULs in the
names of state keys) are spelled out, and what refers to itself is told by its repr.
"""

from typing import Any

from pydantic_core import to_json

from devui.runtime.events.event import Event


def make_storable(event: Event) -> None:
    """Change the event in place, where it has no form in JSON; the rest stays as it is."""
    for name in ("author", "branch", "error_code", "error_message"):
        if isinstance(text := getattr(event, name), str):
            setattr(event, name, _sendable(text))
    for part in (event.content.parts if event.content else None) or []:
        part.text = _sendable(part.text) if part.text is not None else None
        if part.function_call is not None:
            part.function_call.args = _plain(part.function_call.args)
        if part.function_response is not None:
            part.function_response.response = _plain(part.function_response.response)
    event.custom_metadata = _plain(event.custom_metadata)
    delta = event.actions.state_delta  # in place: contexts that are open write to the same one
    kept = {_spelled(key): _plain(value) for key, value in delta.items()}
    delta.clear()
    delta.update(kept)


def _plain(value: Any) -> Any:
    try:
        to_json(value, by_alias=True)
    except (ValueError, RecursionError):
        return _told(value, ())
    return value


def _told(value: Any, outer: tuple[int, ...]) -> Any:
    """The value with its texts spelled out; a container that is in itself as its repr."""
    if isinstance(value, str):
        return _sendable(value)
    if isinstance(value, dict | list | tuple):
        if id(value) in outer or len(outer) > _DEPTH:
            return _sendable(repr(value))
        inner = (*outer, id(value))
        if isinstance(value, dict):
            return {_spelled(str(k)): _told(each, inner) for k, each in value.items()}
        return [_told(each, inner) for each in value]
    try:
        to_json(value, serialize_unknown=True, by_alias=True)
    except (ValueError, RecursionError):
        return _sendable(repr(value))
    return value


def _sendable(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


def _spelled(key: str) -> str:
    return _sendable(key).replace("\0", "\\x00")


_DEPTH = 50
"""How deep a value is walked that is being told."""
