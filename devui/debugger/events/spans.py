"""Loads what a span sent and received, assembled from its pieces (decisions/0009)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from devui.store.journal import Journal
from devui.store.rows import SpanRow
from devui.wire.events import fields_in


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a request; pieces with the same name have the same text."""

    name: str
    text: str
    """JSON."""


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request to a model as the runtime sent it, in unparsed pieces."""

    model: str
    stream: bool
    system: Piece | None
    tools: Piece | None
    config: Piece | None
    contents: tuple[Piece, ...]

    @classmethod
    def at_gate(cls, payload: Any) -> Self:
        """Return the request held at `before_model`; its config includes instruction and tools."""
        request = fields_in(payload)
        config = dict(fields_in(request.get("config")))
        system, tools = config.pop("systemInstruction", None), config.pop("tools", None)
        contents = request.get("contents")
        return cls(
            model=str(request.get("model") or ""),
            stream=False,
            system=_unstored(system) if system else None,
            tools=_unstored(tools) if tools else None,
            config=_unstored(config) if config else None,
            contents=tuple(map(_unstored, contents if isinstance(contents, list) else [])),
        )

    def pieces(self) -> Iterator[Piece]:
        yield from (each for each in (self.system, self.tools, self.config) if each)
        yield from self.contents

    def as_json(self) -> dict[str, Any]:
        """Return the request in the API's form."""
        return {
            "model": self.model,
            "stream": self.stream,
            "system": _value(self.system),
            "tools": _value(self.tools),
            "config": _value(self.config),
            "contents": [_value(each) for each in self.contents],
        }

    def __len__(self) -> int:
        """Return the length of its JSON in characters."""
        return sum(len(each.text) for each in self.pieces())


async def sent_and_result(journal: Journal, span: SpanRow) -> tuple[Any, Any]:
    """Return what the span sent and received, as parsed JSON; None for what isn't stored.

    For a tool, these are its arguments and its result. For a model call, they are the request, with
    `model`, `stream`, `system`, `tools`, `config` and `contents`, and the responses, each as
    `[seconds, response]`.
    """
    payload, result, _ = await journal.spans.bodies(span)
    if span.type != "model" or payload is None:
        return payload, _parse(result)
    request = await _request(journal, span.session, payload)
    return request.as_json(), _parse(result)


async def request_and_answers(
    journal: Journal, span: SpanRow
) -> tuple[SentRequest | None, str | None]:
    """Return the request of a model call and its responses as JSON, each None if not stored."""
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


def _unstored(value: Any) -> Piece:
    """Return a piece that isn't in the journal; its text is also its name."""
    text = json.dumps(value)
    return Piece(text, text)


def _value(piece: Piece | None) -> Any:
    return None if piece is None else json.loads(piece.text)


def _parse(text: str | None) -> Any:
    return None if text is None else json.loads(text)
