"""The API's JSON responses."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from starlette.responses import Response

from devui.debugger.background.slices import encode

_COMPACT: Final = json.JSONEncoder(separators=(",", ":"))


def answer(value: Mapping[str, Any], *, status: int = 200) -> Response:
    """Return a JSON response in ASCII, which every client can read whatever an agent wrote.

    It is always an object, never a list, which a page of another origin could run as a script
    (R05).
    """
    text = encode(value, _COMPACT)
    return Response(text, status_code=status, media_type="application/json")


async def large_answer(value: Callable[[], Mapping[str, Any]]) -> Response:
    """Like `answer`, for a value that may be large: build and encode it off the event loop."""
    return await asyncio.to_thread(lambda: answer(value()))
