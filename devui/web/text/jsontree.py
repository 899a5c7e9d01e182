"""Renders JSON values as collapsible trees and as highlighted text.

Trees are bounded: long strings are collapsed, big containers show their first items, and after
`NODES` nodes the rest are one-line previews. The raw view has everything.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, TypeAlias

from devui.debugger.background.slices import encode
from devui.debugger.events.preview import json_in, preview, shortened
from devui.debugger.history.paths import Path, Step
from devui.web.basic_parts import JsonNode, JsonText, JsonTree
from devui.web.text import formats
from devui.web.text.deceptive_characters import quoted, visible
from devui.web.text.formats import plural

COLORED: Final = 65_536
"""How many characters are highlighted; tokens that start after them are plain."""
CHARACTERS: Final = 524_288
"""How many characters are shown."""

_TOKEN: Final = re.compile(
    r'(?P<string>"(?:[^"\\]++|\\.?)*+"?)'
    r"|(?P<number>-?\d[\d.eE+-]*+)|(?P<boolean>true|false)|(?P<null>null)"
)
"""A token; a string whose end was cut off is one, too, so that no quote is scanned twice."""


def json_text(
    value: object,
    href: str = "",
    *,
    size: int | None = None,
    limit: int = CHARACTERS,
    colored: bool = True,
) -> JsonText:
    """Return the value as JSON, indented by two spaces and truncated after `limit` characters.

    `href` leads to the whole value. If it is truncated, only the part shown is indented, and the
    size given is that of its compact form: `size`, if the caller knows it.
    """
    beginning, is_whole = indented(value, limit)
    if size is None or is_whole:
        size = len((beginning if is_whole else encode(value, _COMPACT)).encode("utf-8", "replace"))
    text = visible(beginning if is_whole else shortened(beginning, limit))
    return JsonText(
        pieces=tuple(_pieces(text)) if colored else (("", text),),
        size=formats.size(size),
        cut="" if is_whole else f"only the first {limit:,} characters are shown",
        href=href,
    )


def indented(value: object, most: int) -> tuple[str, bool]:
    """Return the value as indented JSON, and whether that is complete.

    Encoding stops once the text has more than `most` characters.
    """
    pieces: list[str] = []
    length = 0
    for piece in _INDENTED.iterencode(value):
        pieces.append(piece)
        length += len(piece)
        if length > most:
            return "".join(pieces), False
    return "".join(pieces), True


_INDENTED: Final = json.JSONEncoder(indent=2, ensure_ascii=False)
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    end = 0
    for match in _TOKEN.finditer(text):
        if match.start() >= COLORED:
            break
        if match.start() > end:
            yield "", text[end : match.start()]
        end = match.end()
        is_key = text.startswith(":", end)
        yield "key" if is_key else match.lastgroup or "", match.group()
    if end < len(text):
        yield "", text[end:]


LARGE: Final = 4_096
"""Values whose JSON has at least this many bytes are shown with their size."""


def json_size(value: object) -> str:
    """Return a value's size, such as `285 kB · object with 2 keys`; "" for small ones."""
    number = len(encode(value, _COMPACT).encode("utf-8", "replace"))
    if number < LARGE:
        return ""
    if isinstance(value, Mapping):
        return f"{formats.size(number)} · object with {plural(len(value), 'key')}"
    if isinstance(value, list):
        return f"{formats.size(number)} · array of {plural(len(value), 'item')}"
    return formats.size(number)


NODES: Final = 400
CHILDREN: Final = 50
FOLDED: Final = 2_000
"""How many more members are rendered collapsed, in all containers without a link to the rest."""
PREVIEW: Final = 72
LONG_TEXT: Final = 240
LONG_LINES: Final = 6
BODY: Final = 65_536
DEPTH: Final = 12

Container: TypeAlias = Mapping[str, object] | list[object] | tuple[object, ...]


Link: TypeAlias = Callable[[Path], str]
"""Returns the address of the details of the value at a path."""
Rest: TypeAlias = Callable[[Path, int], str]
"""Returns the address of the rest of the container or text at a path, from a position on."""


@dataclass(slots=True)
class NodeBudget:
    """The number of nodes that may still be rendered; the trees of a page may share it."""

    nodes: int = NODES
    folded_nodes: int = FOLDED


def json_tree(
    value: object,
    *,
    open_levels: int = 2,
    link: Link | None = None,
    rest: Rest | None = None,
    budget: NodeBudget | None = None,
) -> JsonTree:
    """Return the tree of a value, with containers expanded down to `open_levels`.

    Names link to the addresses that `link` returns for their paths. Whatever isn't shown has a link
    to the address that `rest` returns.
    """
    builder = _Builder(open_levels, link, rest, budget or NodeBudget())
    return JsonTree(builder.node(value, ()), has_links=bool(link or rest))


def json_items(value: object, start: int, *, rest: Rest, link: Link | None = None) -> JsonTree:
    """Return the rest of a container or a long text, from a position on."""
    builder = _Builder(1, link, rest, NodeBudget())
    if isinstance(value, str):
        children: tuple[JsonNode, ...] = builder.text(value, start)
    elif isinstance(value, Mapping | list | tuple):
        children = builder.children(value, (), start)
    else:
        children = (builder.node(value, ()),)
    return JsonTree(JsonNode(kind="array", text="", children=children), has_links=True, bare=True)


@dataclass(slots=True)
class _Builder:
    open_levels: int
    link: Link | None = None
    rest: Rest | None = None
    budget: NodeBudget = field(default_factory=NodeBudget)

    def node(self, value: object, path: Path) -> JsonNode:
        self.budget.nodes -= 1
        node = self._node(value, visible(str(path[-1])) if path else None, path)
        return replace(node, href=self.link(path)) if self.link and path else node

    def _node(self, value: object, key: str | None, path: Path) -> JsonNode:
        depth = len(path)
        if isinstance(value, str):
            if (inner := json_in(value)) is not None:
                return self._decode(inner, key, depth)
            node = _string(value, key)
            more = self.rest(path, BODY) if self.rest and len(value) > BODY else ""
            return replace(node, rest=more)
        if not isinstance(value, Mapping | list | tuple):
            return _scalar(value, key)
        full = self.budget.nodes < 0 or depth > DEPTH
        children = () if full or not value else self.children(value, path)
        is_object = isinstance(value, Mapping)
        return JsonNode(
            kind="object" if is_object else "array",
            text=visible(preview(value, PREVIEW)),
            key=key,
            note=plural(len(value), "key" if is_object else "item"),
            children=children,
            open=depth < self.open_levels,
            rest=self.rest(path, 0) if self.rest and full and value else "",
        )

    def _decode(self, value: Container, key: str | None, depth: int) -> JsonNode:
        """Return the tree of JSON in a string, such as an MCP tool's answer; it has no links."""
        inner = _Builder(max(0, self.open_levels - depth), budget=self.budget)
        node = inner.node(value, ())
        return replace(node, key=key, note=f"JSON in text, {node.note}")

    def children(self, value: Container, path: Path, start: int = 0) -> tuple[JsonNode, ...]:
        """Return some members from a position on, and a node for the rest."""
        end = start + CHILDREN
        nodes = [self.node(item, (*path, key)) for key, item in islice(_pairs(value), start, end)]
        if len(value) > end:
            nodes += self._behind(value, path, end)
        return tuple(nodes)

    def _behind(self, value: Container, path: Path, start: int) -> Iterator[JsonNode]:
        """Yield a link to the remaining members, or else as many of them as there is room for."""
        count = 0 if self.rest else max(0, min(len(value) - start, self.budget.folded_nodes))
        if count:
            self.budget.folded_nodes -= count
            items = islice(_pairs(value), start, start + count)
            nodes = tuple(self.node(item, (*path, key)) for key, item in items)
            yield JsonNode(kind="cut", text=f"… {count:,} more", children=nodes)
        if (remaining := len(value) - start - count) > 0:
            more = self.rest(path, start) if self.rest else ""
            words = "more" if more else "more not shown"
            yield JsonNode(kind="cut", text=f"… {remaining:,} {words}", rest=more)

    def text(self, text: str, start: int) -> tuple[JsonNode, ...]:
        """Return a section of a text, and a link to the next."""
        end = start + BODY
        note = f"characters {start + 1:,} to {min(end, len(text)):,} of {len(text):,}"
        body = visible(text[start:end])
        node = JsonNode(kind="text", text="", note=note, body=body, open=True)
        if len(text) <= end:
            return (node,)
        more = self.rest((), end) if self.rest else ""
        return node, JsonNode("cut", f"… {len(text) - end:,} more characters", rest=more)


def _pairs(value: Container) -> Iterable[tuple[Step, object]]:
    return value.items() if isinstance(value, Mapping) else enumerate(value)


def _string(text: str, key: str | None) -> JsonNode:
    lines = text.count("\n") + 1
    if len(text) <= LONG_TEXT and lines <= LONG_LINES:
        return JsonNode(
            kind="string", text="\n".join(map(_inner, text.split("\n"))).join('""'), key=key
        )
    note = f"{len(text):,} characters" + (f", {lines:,} lines" if lines > 1 else "")
    cut = f"…\n… {len(text) - BODY:,} more characters" if len(text) > BODY else ""
    return JsonNode(
        kind="text",
        text=quoted(text[:PREVIEW])[:-1] + "…",
        key=key,
        note=note,
        body=visible(text[:BODY]) + cut,
    )


def _inner(line: str) -> str:
    """Return a line of a text as written between the quotes of a JSON string."""
    return quoted(line)[1:-1]


def _scalar(value: object, key: str | None) -> JsonNode:
    if value is None:
        return JsonNode(kind="null", text="null", key=key)
    if isinstance(value, bool):
        return JsonNode(kind="boolean", text="true" if value else "false", key=key)
    return JsonNode(kind="number", text=str(value), key=key)
