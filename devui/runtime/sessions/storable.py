"""An event that cannot be kept as it is, made one that can (R53, R54).

One odd value must not cost the event that it is in: with it would go the results of other calls,
and a resume would make these again. So texts that are none (halves of surrogate pairs, NULs in the
names of state keys) are spelled out, and what refers to itself is told by its repr.
"""

from typing import Any

from google.genai import types
from pydantic_core import to_json

from devui.runtime.events.event import Event
from devui.runtime.halves import sendable
from devui.runtime.jsonable import walked


def make_storable(event: Event) -> None:
    """Change the event in place, where it has no form in JSON; the rest stays as it is."""
    for name in ("author", "branch", "error_code", "error_message"):
        if isinstance(text := getattr(event, name), str):
            setattr(event, name, sendable(text))
    for part in (event.content.parts if event.content else None) or []:
        _make_part_storable(part)
    event.output = _plain(event.output)
    event.custom_metadata = _plain(event.custom_metadata)
    delta = event.actions.state_delta  # in place: contexts that are open write to the same one
    kept = {_spelled(key): _plain(value) for key, value in delta.items()}
    delta.clear()
    delta.update(kept)


def _make_part_storable(part: types.Part) -> None:
    part.text = _plain(part.text)
    if part.function_call is not None:
        part.function_call.args = _plain(part.function_call.args)
    if part.function_response is not None:
        part.function_response.response = _plain(part.function_response.response)
    if part.executable_code is not None:
        part.executable_code.code = _plain(part.executable_code.code)
    if part.code_execution_result is not None:
        part.code_execution_result.output = _plain(part.code_execution_result.output)


def _plain(value: Any) -> Any:
    try:
        to_json(value, by_alias=True)
    except (ValueError, RecursionError):
        return walked(value, _told, _spelled)
    return value


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
