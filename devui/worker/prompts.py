"""Requests to models in pieces, each of which is sent to the server once (dev-uis 4.1, item 5)."""

import json
from collections import OrderedDict
from typing import Any

from pydantic import BaseModel

from devui.runtime.models.llm_request import LlmRequest
from devui.wire.pieces import piece_name
from devui.wire.spans import Prompt
from devui.worker.jsontext import as_json

_APART = {"system_instruction", "tools", "http_options", "response_schema"}
"""What of the configuration is no setting: pieces of their own, and what may hold secrets."""
_KNOWN = 100_000
"""How many names of pieces are remembered; a piece that is sent again does no harm."""


class Prompts:
    """Knows which pieces the server has, session by session."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, str], None] = OrderedDict()

    def of(self, session: int, request: LlmRequest, *, stream: bool) -> Prompt:
        """The request as it is now, for the session of this key."""
        pieces: dict[str, str] = {}

        def piece(value: Any) -> str | None:
            return self._named(session, as_json(value), pieces) if value else None

        config = request.config
        settings = config.model_dump(
            mode="json", by_alias=True, exclude_none=True, exclude=_APART, fallback=repr
        )
        if config.response_schema is not None:
            settings["responseSchema"] = _schema(config.response_schema)
        return Prompt(
            model=request.model,
            system=piece(config.system_instruction),
            tools=piece(config.tools),
            config=piece(settings),
            contents=[self._named(session, as_json(each), pieces) for each in request.contents],
            pieces=pieces,
            stream=stream,
        )

    def not_sent(self, session: int, prompt: Prompt) -> None:
        """The server did not get the pieces of this one."""
        for name in prompt.pieces:
            self._known.pop((session, name), None)

    def _named(self, session: int, text: str, pieces: dict[str, str]) -> str:
        name = piece_name(text)
        known = self._known
        if (session, name) in known:
            known.move_to_end((session, name))
            return name
        known[session, name] = None
        if len(known) > _KNOWN:
            known.popitem(last=False)
        pieces[name] = text
        return name


def _schema(schema: Any) -> Any:
    """The schema as JSON; of a type that is no model, its name."""
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return schema.model_json_schema()
    return json.loads(as_json(schema))
