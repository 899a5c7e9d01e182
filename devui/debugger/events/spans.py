"""Spans with what was sent and what came back, put together from their pieces (decisions/0009)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from devui.store.journal import Journal
from devui.store.rows import SpanRow


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a request; two pieces of one name say the same."""

    name: str
    text: str
    """JSON."""


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request to a model as the runtime sent it, in pieces that are not parsed yet."""

    model: str
    stream: bool
    system: Piece | None
    tools: Piece | None
    config: Piece | None
    contents: tuple[Piece, ...]

    def pieces(self) -> Iterator[Piece]:
        """All that there are."""
        yield from (each for each in (self.system, self.tools, self.config) if each)
        yield from self.contents

    def as_json(self) -> dict[str, Any]:
        """The request as the API tells it."""
        return {
            "model": self.model,
            "stream": self.stream,
            "system": _value(self.system),
            "tools": _value(self.tools),
            "config": _value(self.config),
            "contents": [_value(each) for each in self.contents],
        }

    def __len__(self) -> int:
        """Characters of JSON."""
        return sum(len(each.text) for each in self.pieces())


async def sent_and_result(journal: Journal, span: SpanRow) -> tuple[Any, Any]:
    """What was sent and what came back, as parsed JSON; None where nothing is kept.

    Of a tool its arguments and its result. Of a model call the request, as `model`, `stream`,
    `system`, `tools`, `config` and `contents`, and the responses as `[seconds, response]` each.
    """
    payload, result, _ = await journal.spans.bodies(span)
    if span.type != "model" or payload is None:
        return payload, _parse(result)
    request = await _request(journal, span.session, payload)
    return request.as_json(), _parse(result)


async def request_and_answers(
    journal: Journal, span: SpanRow
) -> tuple[SentRequest | None, str | None]:
    """The request of a model call, None if it was not kept, and its responses as JSON text."""
    payload, result, _ = await journal.spans.bodies(span)
    request = await _request(journal, span.session, payload) if payload else None
    return request, result


async def _request(journal: Journal, session: int, names: dict[str, Any]) -> SentRequest:
    single = [names[name] for name in ("system", "tools", "config") if names[name] is not None]
    pieces = await journal.spans.pieces(session, [*single, *names["contents"]])

    def piece(name: str | None) -> Piece | None:
        return Piece(name, pieces[name]) if name in pieces else None

    return SentRequest(
        model=names["model"] or "",
        stream=names["stream"],
        system=piece(names["system"]),
        tools=piece(names["tools"]),
        config=piece(names["config"]),
        contents=tuple(Piece(name, pieces.get(name, "null")) for name in names["contents"]),
    )


def _value(piece: Piece | None) -> Any:
    return None if piece is None else json.loads(piece.text)


def _parse(text: str | None) -> Any:
    return None if text is None else json.loads(text)
