"""The layout of a graph: pure, and the same for the same structure.

An agent is a card that contains its tools. The agents that it can transfer to, and those in its
AgentTools, are to its right, one below the other. Whatever runs nodes in an order (sequence, loop,
parallel, workflow) is a frame around them, with layers from top to bottom. Edges to the next layer
are direct; back edges and edges that skip a layer use a lane on the right, so that no edge crosses
a node.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from devui.wire.structure import StructureEdge, StructureNode

FRAMES: Final = frozenset({"sequential", "parallel", "loop", "workflow"})
TOOLS: Final = frozenset({"tool", "agent_tool"})

HEAD: Final = 42.0
"""The height of an agent's card without tools, and of a frame's head."""
ROW: Final = 26.0
_PAD, _GAP, _BETWEEN, _COLUMN = 10.0, 24.0, 38.0, 44.0
_LANE: Final = 14.0
_LABEL: Final = 13.0
"""The height of a label; the labels of adjacent lanes are stacked."""
_ABOVE: Final = 12.0
"""The space below a frame's head for edges that lead back to its first nodes."""
_LETTER: Final = 7.7
"""The average width of a letter in a name."""
_NARROWEST, _WIDEST = 160.0, 250.0
_ABREAST: Final = 4
"""The maximum number of parallel nodes in one row."""


@dataclass(frozen=True, slots=True)
class Box:
    """The box of a node, or of a frame around others."""

    node: int
    x: float
    y: float
    w: float
    h: float


@dataclass(frozen=True, slots=True)
class Line:
    """An edge: the commands of an SVG path, and the center of its label."""

    source: int
    target: int
    path: str
    route: str
    x: float
    y: float
    back: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    width: float
    height: float
    boxes: tuple[Box, ...]
    """The boxes; frames and cards come before what they contain."""
    lines: tuple[Line, ...]


@dataclass(slots=True)
class _Block:
    """A node with everything that belongs to it; its own box comes first."""

    w: float
    h: float
    boxes: list[Box] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)

    def put(self, block: "_Block", x: float, y: float) -> Box:
        """Add a block at an offset; return its node's box."""
        at = len(self.boxes)
        self.boxes += [replace(box, x=box.x + x, y=box.y + y) for box in block.boxes]
        self.lines += [_move(line, x, y) for line in block.lines]
        return self.boxes[at]


def layout(nodes: Sequence[StructureNode], edges: Iterable[StructureEdge]) -> Layout:
    """Return the boxes and lines of a structure."""
    if not nodes:
        return Layout(0, 0, (), ())
    drawing = _Drawing(nodes, edges)
    block = _Block(0, 0)
    for root in drawing.children[None]:
        below = drawing.block(root)
        block.put(below, 0, block.h)
        block.w, block.h = max(block.w, below.w), block.h + below.h + _GAP
    return Layout(block.w, block.h - _GAP, tuple(block.boxes), tuple(block.lines))


class _Drawing:
    def __init__(self, nodes: Sequence[StructureNode], edges: Iterable[StructureEdge]) -> None:
        self._nodes = nodes
        self._edges = defaultdict[int | None, list[StructureEdge]](list)
        self.children = defaultdict[int | None, list[int]](list)
        for position, node in enumerate(nodes):
            self.children[node.parent].append(position)
        for edge in edges:
            self._edges[nodes[edge.source].parent].append(edge)

    def block(self, node: int) -> _Block:
        """Return the block of a node that isn't a tool."""
        return self._frame(node) if self._nodes[node].kind in FRAMES else self._tree(node)

    def _tree(self, node: int) -> _Block:
        """Return a card with its tools, and the blocks it leads to on its right."""
        tools = [each for each in self.children[node] if self._nodes[each].kind in TOOLS]
        others = [each for each in self.children[node] if each not in tools]
        w = max(self._width(each) for each in (node, *tools))
        if self._nodes[node].kind == "start":
            w = 76.0
        h = HEAD if self._nodes[node].kind != "start" else 28.0
        rows = [Box(tool, 8, h + ROW * i, w - 16, ROW - 4) for i, tool in enumerate(tools)]
        h += ROW * len(tools) + (4 if tools else 0)
        block = _Block(w, h, [Box(node, 0, 0, w, h), *rows])
        origins = {tool: box.y + box.h / 2 for tool, box in zip(tools, rows, strict=True)}
        led = [(node, HEAD / 2, each) for each in others]
        led += [(tool, y, each) for tool, y in origins.items() for each in self.children[tool]]
        y = 0.0
        for source, start, each in led:
            below = self.block(each)
            own = block.put(below, w + _COLUMN, y)
            begin = w if source == node else w - 8
            path = _across(begin, start, own.x, own.y + HEAD / 2)
            block.lines.append(Line(source, each, path, "", own.x, own.y))
            block.w, y = max(block.w, w + _COLUMN + below.w), y + below.h + _GAP
        block.h = max(h, y - _GAP)
        return block

    def _width(self, node: int) -> float:
        extra = 92 if self._nodes[node].kind in TOOLS else 66
        return min(max(len(self._nodes[node].name) * _LETTER + extra, _NARROWEST), _WIDEST)

    def _frame(self, node: int) -> _Block:
        """Return a frame around the nodes that it runs in an order."""
        inside = self.children[node]
        layers, edges = self._order(node, inside)
        blocks = {each: self.block(each) for each in inside}
        wide = [sum(blocks[e].w for e in layer) + _GAP * (len(layer) - 1) for layer in layers]
        content = max([*wide, self._width(node) - 2 * _PAD])
        rank = {each: i for i, layer in enumerate(layers) for each in layer}
        far = [e for e in edges if rank[e.target] - rank[e.source] != 1]
        y = HEAD + (_ABOVE if far else 0)
        frame, boxes = _Block(0, 0, [Box(node, 0, 0, 0, 0)]), dict[int, Box]()
        for layer, width in zip(layers, wide, strict=True):
            x = _PAD + (content - width) / 2
            for each in layer:
                boxes[each] = frame.put(blocks[each], x, y)
                x += blocks[each].w + _GAP
            y += max(blocks[each].h for each in layer) + _BETWEEN
        ends = [max(boxes[each].y + blocks[each].h for each in layer) for layer in layers]
        for edge in edges:
            source, target = boxes[edge.source], boxes[edge.target]
            if edge not in far:
                frame.lines.append(_down(edge, source, target))
                continue
            lane = _PAD + content + _LANE * (far.index(edge) + 1)
            back = rank[edge.target] <= rank[edge.source]
            turn = ends[rank[edge.source]] + 10 + 2 * far.index(edge)
            line = _aside(edge, source, target, lane, turn, back=back)
            frame.lines.append(replace(line, y=line.y + _LABEL * far.index(edge)))
        h = y - _BETWEEN + (26 if far else _PAD) if layers else HEAD
        w = content + 2 * _PAD + (_LANE * len(far) + 8 + _label(far) if far else 0)
        frame.boxes[0] = Box(node, 0, 0, w, h)
        frame.w, frame.h = w, h
        return frame

    def _order(self, node: int, inside: list[int]) -> tuple[list[list[int]], list[StructureEdge]]:
        kind = self._nodes[node].kind
        if kind == "parallel":
            starts = range(0, len(inside), _ABREAST)
            return [inside[i : i + _ABREAST] for i in starts], []
        edges = self._edges[node]
        if kind != "workflow":
            pairs = list(pairwise(inside))
            pairs += [(inside[-1], inside[0])] if kind == "loop" and inside else []
            edges = [StructureEdge(source=one, target=two) for one, two in pairs]
        return layers_of(inside, [(edge.source, edge.target) for edge in edges]), edges


def layers_of(nodes: Sequence[int], pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the layers of a graph: each node is below all nodes that lead to it, ignoring the back
    edges of cycles. Within a layer, nodes are near those that lead to them."""
    following: dict[int, list[int]] = {node: [] for node in nodes}
    for source, target in pairs:
        following[source].append(target)
    rank = dict.fromkeys(nodes, 0)
    order = list(_topological(nodes, following))
    place = {node: i for i, node in enumerate(order)}
    leading = defaultdict[int, list[int]](list)
    for node in order:
        for target in following[node]:
            if place[target] > place[node]:
                rank[target] = max(rank[target], rank[node] + 1)
                leading[target].append(node)
    layers: list[list[int]] = [[] for _ in range(max(rank.values(), default=-1) + 1)]
    for node in order:
        layers[rank[node]].append(node)
    spot: dict[int, float] = {}
    for layer in layers:
        layer.sort(key=lambda node: _middle(spot[each] for each in leading[node]))
        spot |= {node: i - (len(layer) - 1) / 2 for i, node in enumerate(layer)}
    return layers


def _topological(nodes: Sequence[int], following: Mapping[int, Sequence[int]]) -> Iterator[int]:
    """Return the nodes, each before those that follow it, except along the back edges of cycles."""
    order: list[int] = []
    seen: set[int] = set()
    for root in nodes:
        stack = [(root, iter(following[root]))] if root not in seen else []
        seen.add(root)
        while stack:
            node, rest = stack[-1]
            target = next((each for each in rest if each not in seen), None)
            if target is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(target)
                stack.append((target, iter(following[target])))
    return reversed(order)


def _middle(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0


# --- paths -------------------------------------------------------------------------------------


def _move(line: Line, x: float, y: float) -> Line:
    """Move a line, whose path has only absolute commands: letters, each followed by pairs of
    numbers."""
    words = line.path.split()
    numbers = 0
    for i, word in enumerate(words):
        if word.isalpha():
            continue
        words[i] = f"{float(word) + (y if numbers % 2 else x):g}"
        numbers += 1
    return replace(line, path=" ".join(words), x=line.x + x, y=line.y + y)


def _across(x1: float, y1: float, x2: float, y2: float) -> str:
    middle = (x1 + x2) / 2
    return f"M {x1:g} {y1:g} C {middle:g} {y1:g} {middle:g} {y2:g} {x2:g} {y2:g}"


def _down(edge: StructureEdge, source: Box, target: Box) -> Line:
    x1, y1 = source.x + source.w / 2, source.y + source.h
    x2, y2 = target.x + target.w / 2, target.y
    turn = y2 - _BETWEEN
    path = f"M {x1:g} {y1:g} L {x1:g} {turn:g} "
    path += f"C {x1:g} {turn + 22:g} {x2:g} {y2 - 22:g} {x2:g} {y2:g}"
    x = x1 + (x2 - x1) * 0.72
    return Line(edge.source, edge.target, path, edge.route, x, y2 - 14)


def _aside(
    edge: StructureEdge, source: Box, target: Box, lane: float, turn: float, *, back: bool
) -> Line:
    x1, y1 = source.x + source.w / 2 + 12, source.y + source.h
    x2, y2 = target.x + target.w / 2 + 12, target.y
    over = y2 - 9
    path = f"M {x1:g} {y1:g} L {x1:g} {turn:g} L {lane:g} {turn:g}"
    path += f" L {lane:g} {over:g} L {x2:g} {over:g} L {x2:g} {y2:g}"
    place = (lane + len(edge.route) * 3.2 + 4, (turn + over) / 2)
    return Line(edge.source, edge.target, path, edge.route, *place, back=back)


def _label(edges: Iterable[StructureEdge]) -> float:
    return max(len(edge.route) for edge in edges) * 6.4
