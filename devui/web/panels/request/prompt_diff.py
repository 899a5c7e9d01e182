"""The blocks of a model request, and how they differ from those of another request.

Blocks are aligned by their content, so that an inserted message doesn't shift the others.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any, Final, Literal

from devui.debugger.events.preview import shortened
from devui.debugger.events.spans import Piece, SentRequest
from devui.store.rows import SpanRow
from devui.web.links import session_url
from devui.web.panels.chat.content import FileLink, content_parts
from devui.web.panels.request.parts import (
    BlockBody,
    DiffBlock,
    Difference,
    PromptDiff,
    ToolDeclaration,
)
from devui.web.text import formats
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import plural
from devui.web.text.jsontree import json_tree
from devui.web.text.worddiff import word_diff
from devui.wire.events import Event, fields_in

PREVIEW: Final = 160
"""Characters of a block shown before it is unfolded."""


@dataclass(frozen=True, slots=True)
class BlockText:
    """A block as text, without files."""

    key: str
    """Equal for blocks with the same content."""
    role: str
    place: str
    value: Any
    text: str

    @property
    def kind(self) -> str:
        """The role, or `result`: tool results are sent with the role `user`."""
        parts = fields_in(self.value).get("parts") or []
        has_result = any("functionResponse" in fields_in(part) for part in parts)
        return "result" if has_result else self.role


def blocks_of(request: SentRequest) -> list[BlockText]:
    """Return the system instruction, if there is one, then the messages."""
    return [*_system(request.system), *_messages(request.contents)]


def body_of(value: Any, file: FileLink | None = None) -> BlockBody:
    """Return the full content of a block; `file` links to the files in it."""
    return BlockBody(content_parts(event_of(value), file=file))


def event_of(value: Any) -> Event:
    """Return an event with the content of a block."""
    content = value if isinstance(value, Mapping) else {"parts": _parts(value)}
    return Event.of({"author": "user", "content": content})


def declarations(tools: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield name, description and schema of each tool; a provider's own tool has only its name."""
    for tool in tools if isinstance(tools, list) else []:
        for key, value in fields_in(tool).items():
            if key == "functionDeclarations" and isinstance(value, list):
                yield from (_declaration(fields_in(each)) for each in value)
            else:
                yield key, "runs at the provider", value


def tool_shown(dom_id: str, declaration: tuple[str, str, Any]) -> ToolDeclaration:
    """Return a tool as declared to the model."""
    name, description, schema = declaration
    size = len(json.dumps(schema, ensure_ascii=False)) + len(description) if schema else 0
    return ToolDeclaration(
        dom_id=dom_id,
        name=visible(name),
        description=visible(description),
        size=formats.size(size) if size else "",
        schema=json_tree(schema) if schema else None,
    )


def as_text(value: Any) -> str:
    """Return a content as text to read and compare, with JSON for everything but text."""
    parts = value.get("parts") if isinstance(value, Mapping) else _parts(value)
    return "\n".join(_part_text(fields_in(part)) for part in parts or [])


def _system(piece: Piece | None) -> Iterator[BlockText]:
    if piece is not None:
        value = json.loads(piece.text)
        yield BlockText(piece.name, "system", "", value, as_text(value))


def _messages(contents: tuple[Piece, ...]) -> Iterator[BlockText]:
    for number, piece in enumerate(contents, 1):
        value = json.loads(piece.text)
        role = str(fields_in(value).get("role") or "message")
        yield BlockText(piece.name, role, f"#{number}", value, as_text(value))


def _declaration(tool: Mapping[str, Any]) -> tuple[str, str, Any]:
    schema = tool.get("parameters") or tool.get("parametersJsonSchema")
    return str(tool.get("name", "")), str(tool.get("description") or ""), schema


def _parts(value: Any) -> list[Any]:
    """Return the parts of a shorthand for a content: a text, a part, or a list of these."""
    items = value if isinstance(value, list) else [value]
    return [{"text": each} if isinstance(each, str) else each for each in items]


def _part_text(part: Mapping[str, Any]) -> str:
    if "text" in part:
        return str(part["text"])
    data = fields_in(part.get("inlineData"))
    if data:
        size = formats.size(len(str(data.get("data", ""))) * 3 // 4)
        return f"[{data.get('mimeType', 'file')}, {size}]"
    fields = {key: value for key, value in part.items() if key != "thoughtSignature"}
    return json.dumps(fields, ensure_ascii=False, indent=2)


_BLOCK_LENGTH: Final = 6_000
"""Maximum characters of a block that was added or removed as a whole."""
_AROUND: Final = 200
"""Characters of unchanged text shown on each side of a change."""
_MOST: Final = 200_000
"""Maximum characters of all pieces of a comparison."""
_ALIGNED: Final = 2_000
"""Maximum number of differing blocks to align; more are compared in their order."""

_Breaks = Literal["nowhere", "blocks", "tools"]


def prompt_diff(other: SpanRow, before: SentRequest, after: SentRequest) -> PromptDiff:
    """Return how `after` differs from the request of the other call."""
    old, new = blocks_of(before), blocks_of(after)
    tools = _diff_by_name(_tools(before.tools), _tools(after.tools))
    breaks, verdict = _prefix(before, after)
    place = f"#{other.event}" if other.event else f"span {other.number}"
    href = session_url(other.session, event=other.event, tab="request") if other.event else ""
    return PromptDiff(
        title=f"{place} of {visible(other.agent)}",
        href=href,
        verdict=verdict,
        blocks=tuple(_limit(_mark_break(_blocks(old, new), breaks=breaks == "blocks"))),
        tools=tuple(_mark_break(tools, breaks=breaks == "tools")),
        config=tuple(_diff_by_name(_settings(before), _settings(after))),
    )


def _prefix(before: SentRequest, after: SentRequest) -> tuple[_Breaks, str]:
    """Return where the cacheable prefix ends, and what to say about the cache."""
    if before.model != after.model:
        return "nowhere", f"Different model (was {visible(before.model)}), so no cache is shared."
    same_system = _name(before.system) == _name(after.system)
    if same_system and _name(before.tools) != _name(after.tools):
        return "tools", "The tools differ, which breaks the cache prefix."
    old = [each.name for each in before.contents]
    new = [each.name for each in after.contents]
    if not same_system or old[: len(new)] != new[: len(old)]:
        return "blocks", ""
    if len(new) > len(old):
        return "nowhere", f"The cached prefix holds: {plural(len(new) - len(old), 'new message')}."
    return "nowhere", "The cached prefix holds: nothing new was sent."


def _name(piece: Piece | None) -> str:
    return piece.name if piece else ""


def _mark_break(blocks: Iterator[DiffBlock], *, breaks: bool) -> Iterator[DiffBlock]:
    """Mark the first difference, from which on nothing can be cached."""
    for block in blocks:
        first = breaks and block.kind != "same"
        yield replace(block, breaks_cache=True) if first else block
        breaks = breaks and not first


def _blocks(old: list[BlockText], new: list[BlockText]) -> Iterator[DiffBlock]:
    for tag, i, j, k, m in _align([o.key for o in old], [n.key for n in new]):
        if tag == "equal":
            yield _unchanged(new[k:m])
            continue
        pairs = min(j - i, m - k)
        for was, now in zip(old[i : i + pairs], new[k : k + pairs], strict=True):
            yield _change(was, now)
        yield from (_whole("removed", was) for was in old[i + pairs : j])
        yield from (_whole("added", now) for now in new[k + pairs : m])


def _align(old: list[str], new: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield opcodes as difflib does, but handle the common beginning at no cost."""
    pairs = enumerate(zip(old, new, strict=False))
    head = next((place for place, (a, b) in pairs if a != b), min(len(old), len(new)))
    if head:
        yield "equal", 0, head, 0, head
    was, now = old[head:], new[head:]
    if len(was) + len(now) > _ALIGNED:
        yield "replace", head, len(old), head, len(new)
        return
    for tag, i, j, k, m in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        yield tag, head + i, head + j, head + k, head + m


def _unchanged(blocks: Sequence[BlockText]) -> DiffBlock:
    system = blocks[0].role == "system" and not blocks[0].place
    messages = len(blocks) - system
    nouns = [*(["system instruction"] if system else [])]
    if messages:
        nouns.append(plural(messages, "unchanged message"))
    label = " and ".join(nouns)
    return DiffBlock("same", label if messages else f"{label}, unchanged")


def _change(was: BlockText, now: BlockText) -> DiffBlock:
    pieces = tuple(around(word_diff(was.text, now.text)))
    note = "" if was.role == now.role else f"was {visible(was.role)}"
    if was.text == now.text and not note:
        note = "same text; a file, signature, or other detail differs"
    return DiffBlock("changed", _label(now), pieces, note=note)


def _whole(kind: Difference, block: BlockText) -> DiffBlock:
    cut = len(block.text) - _BLOCK_LENGTH
    note = f"{cut:,} more characters" if cut > 0 else ""
    text = visible(shortened(block.text, _BLOCK_LENGTH))
    return DiffBlock(kind, _label(block), ((kind, text),), note=note)


def _label(block: BlockText) -> str:
    return visible(f"{block.role} {block.place}".strip())


def around(
    changes: Sequence[tuple[Difference, str]],
) -> Iterator[tuple[Difference, str]]:
    """Yield the changes, each with a little of the text around it."""
    last = len(changes) - 1
    for place, (kind, text) in enumerate(changes):
        if kind != "same":
            yield kind, visible(_clip(text))
            continue
        start = text[:_AROUND] if place else ""
        end = text[-_AROUND:] if place < last else ""
        if len(text) <= len(start) + len(end) + _AROUND:
            yield kind, visible(text)
            continue
        left_out = len(text) - len(start) - len(end)
        yield kind, visible(f"{start}\n… {left_out:,} unchanged characters …\n{end}".strip("\n"))


def _clip(text: str) -> str:
    cut = len(text) - _BLOCK_LENGTH
    return f"{text[:_BLOCK_LENGTH]}… {cut:,} more characters " if cut > 0 else text


def _limit(blocks: Iterator[DiffBlock]) -> Iterator[DiffBlock]:
    remaining = _MOST
    for place, block in enumerate(blocks):
        remaining -= sum(len(text) for _, text in block.pieces)
        if remaining < 0:
            yield DiffBlock("same", f"only the first {place:,} differences are shown")
            return
        yield block


def _tools(piece: Piece | None) -> dict[str, str]:
    tools = declarations(json.loads(piece.text)) if piece else ()
    return {name: f"{about}\n{_json(schema)}" if schema else about for name, about, schema in tools}


def _settings(request: SentRequest) -> dict[str, str]:
    settings: dict[str, Any] = {"model": request.model, "stream": request.stream}
    config = json.loads(request.config.text) if request.config else {}
    settings |= config if isinstance(config, dict) else {"config": config}  # from a bundle
    return {name: _json(value) for name, value in settings.items()}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _diff_by_name(old: dict[str, str], new: dict[str, str]) -> Iterator[DiffBlock]:
    for name in dict.fromkeys([*old, *new]):
        was, now = old.get(name), new.get(name)
        if was == now:
            continue
        if was is None or now is None:
            kind: Difference = "added" if was is None else "removed"
            text = visible(_clip(now if now is not None else was or ""))
            yield DiffBlock(kind, visible(name), ((kind, text),))
        else:
            yield DiffBlock("changed", visible(name), tuple(around(word_diff(was, now))))
