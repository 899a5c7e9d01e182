"""The blocks of a request to a model: how large they are, and what they say."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from devui.debugger.spans import Piece, SentRequest
from devui.web.parts import every as parts
from devui.web.presenters.content import content_parts, mapping
from devui.web.text import formats
from devui.web.text.jsontree import json_tree
from devui.web.text.visible import visible

PREVIEW: Final = 160
"""Characters of a block that are read before it is unfolded."""


@dataclass(frozen=True, slots=True)
class Said:
    """A block as text, files left out."""

    key: str
    """Two blocks of one key say the same."""
    role: str
    place: str
    value: Any
    text: str


def blocks_of(request: SentRequest) -> list[Said]:
    """The system instruction, if there is one, then the messages."""
    return [*_system(request.system), *_messages(request.contents)]


def body_of(value: Any) -> parts.BlockBody:
    """What a block says, in full."""
    content = value if isinstance(value, Mapping) else {"parts": _parts(value)}
    return parts.BlockBody(content_parts({"author": "user", "content": content}))


def declarations(tools: Any) -> Iterator[tuple[str, str, Any]]:
    """Name, description and schema of each tool; a tool of the provider has its name alone."""
    for tool in tools if isinstance(tools, list) else []:
        for key, told in mapping(tool).items():
            if key == "functionDeclarations" and isinstance(told, list):
                yield from (_declaration(mapping(each)) for each in told)
            else:
                yield key, "runs at the provider", told


def tool_shown(dom_id: str, told: tuple[str, str, Any]) -> parts.ToolShown:
    """A tool as the model was told of it."""
    name, description, schema = told
    size = len(json.dumps(schema, ensure_ascii=False)) + len(description) if schema else 0
    return parts.ToolShown(
        dom_id=dom_id,
        name=visible(name),
        description=visible(description),
        size=formats.size(size) if size else "",
        schema=json_tree(schema) if schema else None,
    )


def as_text(value: Any) -> str:
    """What a content says, to be read and compared: text as it is, all else as JSON."""
    told = value.get("parts") if isinstance(value, Mapping) else _parts(value)
    return "\n".join(_part_text(mapping(part)) for part in told or [])


def _system(piece: Piece | None) -> Iterator[Said]:
    if piece is not None:
        value = json.loads(piece.text)
        yield Said(piece.name, "system", "", value, as_text(value))


def _messages(contents: tuple[Piece, ...]) -> Iterator[Said]:
    for number, piece in enumerate(contents, 1):
        value = json.loads(piece.text)
        role = str(mapping(value).get("role") or "message")
        yield Said(piece.name, role, f"#{number}", value, as_text(value))


def _declaration(told: Mapping[str, Any]) -> tuple[str, str, Any]:
    schema = told.get("parameters") or told.get("parametersJsonSchema")
    return str(told.get("name", "")), str(told.get("description") or ""), schema


def _parts(value: Any) -> list[Any]:
    """What stands for a content: a text, a part, or a list of these."""
    items = value if isinstance(value, list) else [value]
    return [{"text": each} if isinstance(each, str) else each for each in items]


def _part_text(part: Mapping[str, Any]) -> str:
    if "text" in part:
        return str(part["text"])
    data = mapping(part.get("inlineData"))
    if data:
        size = formats.size(len(str(data.get("data", ""))) * 3 // 4)
        return f"[{data.get('mimeType', 'file')}, {size}]"
    shown = {key: value for key, value in part.items() if key != "thoughtSignature"}
    return json.dumps(shown, ensure_ascii=False, indent=2)
