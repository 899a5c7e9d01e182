"""From what a tool returned to its function response (adk-runtime 8.2)."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from google.genai import types
from pydantic_core import to_jsonable_python

from devui.runtime.copying import altered, exchanged
from devui.runtime.halves import sendable
from devui.runtime.jsonable import walked
from devui.runtime.mistakes import given, place
from devui.runtime.tools.function_tool import FunctionTool

if TYPE_CHECKING:
    from devui.runtime.tools.base_tool import BaseTool

_RESPONSE = types.FunctionResponse()
_PART = types.Part()
_SCALARS = (str, int, float, type(None))
"""What most values are, asked first since to ask for a Part takes several times as long."""
_CONTAINERS = (dict, list, tuple)
_MAY_HOLD_MEDIA = (types.Part, *_CONTAINERS)
_MEDIA_DEPTH = 1
"""How many containers deep in the result media are looked for."""


def response_part(call: types.FunctionCall, tool: BaseTool, result: Any) -> types.Part:
    """The response to a call: media go beside it, and the rest takes the form of JSON."""
    rest, media = _without_media(result)
    # Made of values known to be right, so without google-genai's costly validation.
    try:
        value = as_response(rest)
    except (ValueError, TypeError) as error:
        where = place(_code_of(tool))
        error.add_note(f"Tool {tool.name!r} returned {_refused(error)}: {where}.")
        raise
    response = altered(_RESPONSE, id=call.id, name=call.name or tool.name, response=value)
    if media:
        response.parts = media
    if tool.response_scheduling is not None:
        response.scheduling = tool.response_scheduling
    return exchanged(_PART, "function_response", response)


def _code_of(tool: BaseTool) -> Callable[..., Any]:
    return tool.func if isinstance(tool, FunctionTool) else tool.run_async


def _refused(error: Exception) -> str:
    """What was returned, by what was raised of it."""
    if isinstance(error, TypeError):
        return "it"
    if "depth" in str(error):
        return "what is nested more than 250 levels deep; return it flatter"
    return "what JSON cannot hold, since it holds itself"


def as_response(result: Any) -> dict[str, Any]:
    """The result in the form of JSON, a dict as it is and anything else under `result`.

    What JSON cannot hold becomes its repr, so that one odd value loses no event. Of pydantic
    models the fields that are None are left out, as in the event itself, and keep their names.

    Raises:
        ValueError: it holds itself, or is nested too deeply.
        TypeError: it holds what nobody has awaited.
    """
    response = result if isinstance(result, dict) else {"result": result}
    try:
        jsonable: dict[str, Any] = _in_json(response)
    except UnicodeEncodeError:  # halves of characters are refused in keys alone
        jsonable = walked(response, _in_json, sendable)
    return jsonable


def _in_json(value: Any) -> Any:
    return to_jsonable_python(
        value, fallback=_shown, bytes_mode="base64", exclude_none=True, by_alias=False
    )


def _shown(value: object) -> Any:
    """The repr of what JSON does not know; to tell a model that of a coroutine would help nobody.

    Raises:
        TypeError: nobody has awaited it.
    """
    if inspect.iscoroutine(value) or isinstance(value, asyncio.Future):
        if inspect.iscoroutine(value):
            value.close()
        raise TypeError(
            f"The result holds {given(value)}, which nobody has awaited: write `await` before it,"
            " in an `async def` function."
        )
    if inspect.isasyncgen(value):
        raise TypeError(
            f"The result holds {given(value)}, which nobody has asked for what it yields: do that"
            " with `async for`, in an `async def` function."
        )
    return to_jsonable_python(value, serialize_unknown=True)


def _without_media(result: Any, depth: int = 0) -> tuple[Any, list[types.FunctionResponsePart]]:
    """What is left of a result without the pictures, sounds and files in it, and those.

    Containers that held nothing else are left out, too.
    """
    if not isinstance(result, _CONTAINERS):
        medium = as_media(result) if isinstance(result, types.Part) else None
        return ({}, [medium]) if medium else (result, [])
    if depth > _MEDIA_DEPTH:
        return result, []
    entries = result.items() if isinstance(result, dict) else enumerate(result)
    found: list[types.FunctionResponsePart] = []
    kept = {}
    for key, value in entries:
        if isinstance(value, _SCALARS) or not isinstance(value, _MAY_HOLD_MEDIA):
            kept[key] = value
            continue
        rest, media = _without_media(value, depth + 1)
        found += media
        if rest or not media:
            kept[key] = rest
    if not found:
        return result, []
    return (kept if isinstance(result, dict) else list(kept.values())) or {}, found


def as_media(part: types.Part) -> types.FunctionResponsePart | None:
    """The part as it goes beside a function response; None if it is no medium of a known type."""
    blob, file = part.inline_data, part.file_data
    if blob and blob.data is not None and blob.mime_type:
        return types.FunctionResponsePart.from_bytes(data=blob.data, mime_type=blob.mime_type)
    if file and file.file_uri and file.mime_type:
        return types.FunctionResponsePart.from_uri(file_uri=file.file_uri, mime_type=file.mime_type)
    return None
