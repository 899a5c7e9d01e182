"""JSON values as folding trees.

A tree is bounded whatever the value is: long strings fold, big containers show their first items,
and after `NODES` nodes the rest is one-line previews. The raw view has everything.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from devui.debugger.paths import Path, Step
from devui.debugger.preview import preview
from devui.web.parts.json import JsonNode, JsonTree
from devui.web.text.figures import plural
from devui.web.text.visible import quoted, visible

NODES: Final = 400
CHILDREN: Final = 50
PREVIEW: Final = 72
LONG_TEXT: Final = 240
LONG_LINES: Final = 6
BODY: Final = 65_536
DEPTH: Final = 12


def json_tree(
    value: object, *, open_levels: int = 2, link: Callable[[Path], str] | None = None
) -> JsonTree:
    """The tree of a value; containers down to `open_levels` are unfolded, names are links to what
    `link` makes of their paths."""
    return JsonTree(_Builder(open_levels, link).node(value, ()), linked=link is not None)


@dataclass(slots=True)
class _Builder:
    open_levels: int
    link: Callable[[Path], str] | None = None
    nodes: int = 0

    def node(self, value: object, path: Path) -> JsonNode:
        self.nodes += 1
        node = self._node(value, visible(str(path[-1])) if path else None, path)
        return replace(node, href=self.link(path)) if self.link and path else node

    def _node(self, value: object, key: str | None, path: Path) -> JsonNode:
        depth = len(path)
        if isinstance(value, str):
            return _string(value, key)
        if not isinstance(value, Mapping | list | tuple):
            return _scalar(value, key)
        full = self.nodes > NODES or depth > DEPTH
        children = () if full or not value else self._children(value, path)
        is_object = isinstance(value, Mapping)
        return JsonNode(
            kind="object" if is_object else "array",
            text=visible(preview(value, PREVIEW)),
            key=key,
            note=plural(len(value), "key" if is_object else "item"),
            children=children,
            open=depth < self.open_levels,
        )

    def _children(
        self, value: Mapping[str, object] | list[object] | tuple[object, ...], path: Path
    ) -> tuple[JsonNode, ...]:
        shown = [
            self.node(item, (*path, key))
            for position, (key, item) in enumerate(_pairs(value))
            if position < CHILDREN
        ]
        if len(value) > CHILDREN:
            shown.append(JsonNode(kind="cut", text=f"… {len(value) - CHILDREN:,} more"))
        return tuple(shown)


def _pairs(
    value: Mapping[str, object] | list[object] | tuple[object, ...],
) -> Iterable[tuple[Step, object]]:
    return value.items() if isinstance(value, Mapping) else enumerate(value)


def _string(text: str, key: str | None) -> JsonNode:
    lines = text.count("\n") + 1
    if len(text) <= LONG_TEXT and lines <= LONG_LINES:
        return JsonNode(kind="string", text=quoted(text), key=key)
    note = f"{len(text):,} characters" + (f", {lines:,} lines" if lines > 1 else "")
    cut = f"…\n… {len(text) - BODY:,} more characters" if len(text) > BODY else ""
    return JsonNode(
        kind="text",
        text=quoted(text[:PREVIEW])[:-1] + "…",
        key=key,
        note=note,
        body=visible(text[:BODY]) + cut,
    )


def _scalar(value: object, key: str | None) -> JsonNode:
    if value is None:
        return JsonNode(kind="null", text="null", key=key)
    if isinstance(value, bool):
        return JsonNode(kind="boolean", text="true" if value else "false", key=key)
    return JsonNode(kind="number", text=str(value), key=key)
