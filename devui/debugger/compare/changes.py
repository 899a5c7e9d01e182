"""The differences between two events in texts, arguments, results, state and so on, by path.

If there is only one event, everything in it is a difference.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from devui.debugger.compare.steps import ASPECTS, Aspect, comparable
from devui.debugger.events.summary import unwrapped
from devui.debugger.history.blame import ABSENT, Difference, differences
from devui.store.rows import Json
from devui.wire.events import Event


@dataclass(frozen=True, slots=True)
class Section:
    """The differences in one aspect; for calls and results, in one call or result."""

    aspect: Aspect
    name: str
    """The name of the tool, if any; else ""."""
    differences: tuple[Difference, ...]
    """A text has one at most, with an empty path."""


def sections(first: Event | None, second: Event | None) -> list[Section]:
    """Return the differences between two events, either of which may be missing."""
    old, new = (comparable(event) if event else {} for event in (first, second))
    return [
        section
        for aspect in ASPECTS
        for section in _sections(aspect, old.get(aspect), new.get(aspect))
        if section.differences
    ]


def _sections(aspect: Aspect, old: Any, new: Any) -> Iterator[Section]:
    if aspect == "text":
        texts = [ABSENT if each is None else _spoken_text(each) for each in (old, new)]
        yield Section(aspect, "", tuple(differences(*texts)))
    elif aspect in {"calls", "results"}:
        inside = "args" if aspect == "calls" else "response"
        for name, was, now in _pairs(old or [], new or []):
            values = (_value(was, inside), _value(now, inside))
            yield Section(aspect, name, tuple(differences(*values)))
    else:
        yield Section(aspect, "", tuple(differences(old or {}, new or {})))


def _spoken_text(parts: Iterable[Json]) -> str:
    """Return the parts as one text; files are described."""
    return "\n".join(_part_text(part) for part in parts if isinstance(part, dict))


def _part_text(part: Mapping[str, Any]) -> str:
    if part.get("text"):
        return str(part["text"])
    code = part.get("executableCode") or part.get("codeExecutionResult") or {}
    if isinstance(code, Mapping) and (text := code.get("code") or code.get("output")):
        return str(text)
    data = part.get("inlineData") or part.get("fileData") or {}
    if isinstance(data, Mapping) and data:
        name = data.get("displayName") or data.get("fileUri") or "file"
        return f"[{name}, {data.get('mimeType', '')}, {len(str(data.get('data', '')))} bytes]"
    return str(part)


def _pairs(old: list[Any], new: list[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Pair the calls of each tool in order; None if a call has no counterpart."""
    waiting: defaultdict[str, list[Any]] = defaultdict(list)
    for each in new:
        waiting[str(each.get("name", ""))].append(each)
    for each in old:
        name = str(each.get("name", ""))
        yield name, each, waiting[name].pop(0) if waiting[name] else None
    for name, rest in waiting.items():
        yield from ((name, None, each) for each in rest)


def _value(call: Any, inside: str) -> Any:
    if call is None:
        return ABSENT
    value = call.get(inside)
    return unwrapped(value) if inside == "response" else value or {}
