"""A request that waits before its model call, as if it had been recorded."""

import json
from typing import Any

from devui.debugger.events.spans import Piece, SentRequest
from devui.wire.events import fields_in


def request_at_gate(payload: Any) -> SentRequest:
    """The request of the gate `before_model`, whose settings have everything but the contents."""
    request = fields_in(payload)
    config = dict(fields_in(request.get("config")))
    system, tools = config.pop("systemInstruction", None), config.pop("tools", None)
    contents = request.get("contents")
    return SentRequest(
        model=str(request.get("model") or ""),
        stream=False,
        system=_piece(system),
        tools=_piece(tools),
        config=_piece(config),
        contents=tuple(
            _unstored_piece(each) for each in (contents if isinstance(contents, list) else [])
        ),
    )


def _piece(value: Any) -> Piece | None:
    return _unstored_piece(value) if value else None


def _unstored_piece(value: Any) -> Piece:
    """A piece that isn't stored: its text is its name, too."""
    text = json.dumps(value)
    return Piece(text, text)
