"""Two requests to models side by side: what came, what went, and where a cache has to stop.

Blocks are aligned by what they say, so that a message that was put in between moves no other.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any, Final, Literal

from devui.debugger.preview import shortened
from devui.debugger.spans import Piece, SentRequest
from devui.store.rows import SpanRow
from devui.web.links import session_url
from devui.web.parts import every as parts
from devui.web.presenters.blocks import Said, blocks_of, declarations
from devui.web.text.figures import plural
from devui.web.text.visible import visible
from devui.web.text.worddiff import word_diff

_SHOWN: Final = 6_000
"""Characters of a block that came or went as a whole."""
_AROUND: Final = 200
"""Characters of what stayed the same on each side of a change."""
_MOST: Final = 200_000
"""Characters of all pieces of a comparison."""
_ALIGNED: Final = 2_000
"""Blocks that differ and are still aligned; beyond, they are compared in their order."""

_Breaks = Literal["nowhere", "blocks", "tools"]


def prompt_diff(other: SpanRow, before: SentRequest, after: SentRequest) -> parts.PromptDiff:
    """What differs in `after` from the request of the other call."""
    old, new = blocks_of(before), blocks_of(after)
    tools = _named(_tools(before.tools), _tools(after.tools))
    breaks, verdict = _prefix(before, after)
    place = f"#{other.event}" if other.event else f"span {other.number}"
    href = session_url(other.session, event=other.event, tab="request") if other.event else ""
    return parts.PromptDiff(
        title=f"{place} of {visible(other.agent)}",
        href=href,
        verdict=verdict,
        blocks=tuple(_bounded(_marked(_blocks(old, new), breaks=breaks == "blocks"))),
        tools=tuple(_marked(tools, breaks=breaks == "tools")),
        config=tuple(_named(_settings(before), _settings(after))),
    )


def _prefix(before: SentRequest, after: SentRequest) -> tuple[_Breaks, str]:
    """Where the first thing is that no cache can know, and what else is to say of the cache."""
    if before.model != after.model:
        return "nowhere", f"Another model ({visible(before.model)} before) shares no cache."
    same_system = _name(before.system) == _name(after.system)
    if same_system and _name(before.tools) != _name(after.tools):
        return "tools", "The tools differ: the cache prefix breaks there."
    old = [each.name for each in before.contents]
    new = [each.name for each in after.contents]
    if not same_system or old[: len(new)] != new[: len(old)]:
        return "blocks", ""
    if len(new) > len(old):
        return "nowhere", f"The cached prefix holds: {plural(len(new) - len(old), 'new message')}."
    return "nowhere", "The cached prefix holds: nothing new is sent."


def _name(piece: Piece | None) -> str:
    return piece.name if piece else ""


def _marked(blocks: Iterator[parts.DiffBlock], *, breaks: bool) -> Iterator[parts.DiffBlock]:
    """The first difference ends what a cache can know."""
    for block in blocks:
        first = breaks and block.kind != "same"
        yield replace(block, breaks=True) if first else block
        breaks = breaks and not first


def _blocks(old: list[Said], new: list[Said]) -> Iterator[parts.DiffBlock]:
    for tag, i, j, k, m in _aligned([o.key for o in old], [n.key for n in new]):
        if tag == "equal":
            yield _unchanged(new[k:m])
            continue
        paired = min(j - i, m - k)
        for was, now in zip(old[i : i + paired], new[k : k + paired], strict=True):
            yield _changed(was, now)
        yield from (_whole("removed", was) for was in old[i + paired : j])
        yield from (_whole("added", now) for now in new[k + paired : m])


def _aligned(old: list[str], new: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Runs of blocks as difflib tells them; the common beginning costs nothing."""
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


def _unchanged(blocks: Sequence[Said]) -> parts.DiffBlock:
    system = blocks[0].role == "system" and not blocks[0].place
    messages = len(blocks) - system
    told = [*(["system instruction"] if system else [])]
    if messages:
        told.append(plural(messages, "unchanged message"))
    label = " and ".join(told)
    return parts.DiffBlock("same", label if messages else f"{label}, unchanged")


def _changed(was: Said, now: Said) -> parts.DiffBlock:
    pieces = tuple(around(word_diff(was.text, now.text)))
    note = "" if was.role == now.role else f"was {visible(was.role)}"
    if was.text == now.text and not note:
        note = "its text is the same; a file, a signature or another detail differs"
    return parts.DiffBlock("changed", _label(now), pieces, note=note)


def _whole(kind: parts.Difference, said: Said) -> parts.DiffBlock:
    cut = len(said.text) - _SHOWN
    note = f"{cut:,} more characters" if cut > 0 else ""
    text = visible(shortened(said.text, _SHOWN))
    return parts.DiffBlock(kind, _label(said), ((kind, text),), note=note)


def _label(said: Said) -> str:
    return visible(f"{said.role} {said.place}".strip())


def around(
    changes: Sequence[tuple[parts.Difference, str]],
) -> Iterator[tuple[parts.Difference, str]]:
    """What changed, and a little of what is around it."""
    last = len(changes) - 1
    for place, (kind, text) in enumerate(changes):
        if kind != "same":
            yield kind, visible(_clipped(text))
            continue
        start = text[:_AROUND] if place else ""
        end = text[-_AROUND:] if place < last else ""
        if len(text) <= len(start) + len(end) + _AROUND:
            yield kind, visible(text)
            continue
        left_out = len(text) - len(start) - len(end)
        yield kind, visible(f"{start}\n… {left_out:,} unchanged characters …\n{end}".strip("\n"))


def _clipped(text: str) -> str:
    cut = len(text) - _SHOWN
    return f"{text[:_SHOWN]}… {cut:,} more characters " if cut > 0 else text


def _bounded(blocks: Iterator[parts.DiffBlock]) -> Iterator[parts.DiffBlock]:
    left = _MOST
    for place, block in enumerate(blocks):
        left -= sum(len(text) for _, text in block.pieces)
        if left < 0:
            yield parts.DiffBlock("same", f"and more: only {place:,} differences are shown")
            return
        yield block


def _tools(piece: Piece | None) -> dict[str, str]:
    told = declarations(json.loads(piece.text)) if piece else ()
    return {name: f"{about}\n{_json(schema)}" if schema else about for name, about, schema in told}


def _settings(request: SentRequest) -> dict[str, str]:
    told: dict[str, Any] = {"model": request.model, "stream": request.stream}
    config = json.loads(request.config.text) if request.config else {}
    told |= config if isinstance(config, dict) else {"config": config}  # as a bundle has it
    return {name: _json(value) for name, value in told.items()}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _named(old: dict[str, str], new: dict[str, str]) -> Iterator[parts.DiffBlock]:
    for name in dict.fromkeys([*old, *new]):
        was, now = old.get(name), new.get(name)
        if was == now:
            continue
        if was is None or now is None:
            kind: parts.Difference = "added" if was is None else "removed"
            text = visible(_clipped(now if now is not None else was or ""))
            yield parts.DiffBlock(kind, visible(name), ((kind, text),))
        else:
            yield parts.DiffBlock("changed", visible(name), tuple(around(word_diff(was, now))))
