"""Reads the structure of an app on either runtime: `AppInfo.nodes` and `edges`."""

import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final

from devui.wire.structure import NodeKind, StructureEdge, StructureNode
from devui.worker.engines.kit import BaseNode, Kit

_CONTAINERS: Final[Mapping[str, NodeKind]] = {
    "SequentialAgent": "sequential",
    "ParallelAgent": "parallel",
    "LoopAgent": "loop",
    "Workflow": "workflow",
    "JoinNode": "join",
    "FunctionNode": "function",
    "ToolNode": "tool",
}
_START: Final = "__START__"
_FUNCTIONS: Final = ("", "func", "_func", "_function")
"""Attributes that hold the function of a tool or node; "" means that it is one itself."""
_MOST: Final = 400
"""The most nodes to read; a larger app is truncated."""
_NAMED: Final = re.compile(r"""\bname\s*=\s*["']([^"'\n]+)["']""")


class Structure:
    """The nodes and edges below `root`; places are relative to `folder`, the folder of all apps."""

    def __init__(self, root: BaseNode, kit: Kit, folder: Path) -> None:
        self.nodes: list[StructureNode] = []
        self.edges: list[StructureEdge] = []
        self._kit = kit
        self._folder = folder
        self._names = dict(_named_in(sys.modules.values(), folder))
        self._open: list[int] = []  # the ids of the enclosing objects, to detect cycles
        self._add(root, None)

    def _add(self, node: Any, parent: int | None) -> int | None:
        if len(self.nodes) >= _MOST or id(node) in self._open:
            return None
        position, kind = len(self.nodes), _kind(node, self._kit)
        self.nodes.append(
            StructureNode(
                name=node.name,
                kind=kind,
                parent=parent,
                type=type(node).__name__,
                place=self._code_place(node) or self._names.get(node.name, ""),
            )
        )
        self._open.append(id(node))
        for tool in getattr(node, "tools", None) or ():
            self._add_tool(tool, position)
        graph = getattr(node, "graph", None)
        if graph is None:
            for child in self._kit.children(node):
                self._add(child, position)
        else:
            self._add_graph(graph, position)
        self._open.pop()
        return position

    def _add_tool(self, tool: Any, parent: int) -> None:
        if len(self.nodes) >= _MOST:
            return
        agent = getattr(tool, "agent", None)
        wraps = isinstance(agent, self._kit.base_node)
        name = getattr(tool, "name", None) or getattr(tool, "__name__", None)
        position = len(self.nodes)
        self.nodes.append(
            StructureNode(
                name=str(name or type(tool).__name__),
                kind="agent_tool" if wraps else "tool",
                parent=parent,
                type="function" if isinstance(tool, FunctionType) else type(tool).__name__,
                place=self._code_place(tool),
            )
        )
        if wraps:
            self._add(agent, position)

    def _add_graph(self, graph: Any, position: int) -> None:
        positions: dict[str, int] = {}
        for node in graph.nodes:
            added = self._add(node, position)
            if added is not None:
                positions[node.name] = added
        for edge in graph.edges:
            source = positions.get(edge.from_node.name)
            target = positions.get(edge.to_node.name)
            if source is not None and target is not None:
                self.edges.append(
                    StructureEdge(source=source, target=target, route=_route(edge.route))
                )

    def _code_place(self, thing: Any) -> str:
        """Return where the function of a tool or node begins; "" if unknown."""
        for name in _FUNCTIONS:
            function = getattr(thing, name, None) if name else thing
            code = getattr(function, "__code__", None)
            if code is not None:
                return _place(Path(code.co_filename), code.co_firstlineno, self._folder)
        return ""


def _kind(node: Any, kit: Kit) -> NodeKind:
    if node.name == _START:
        return "start"
    names = (base.__name__ for base in type(node).__mro__)
    kind = next((_CONTAINERS[name] for name in names if name in _CONTAINERS), None)
    if kind is not None:
        return kind
    is_agent = isinstance(node, kit.llm_agent) or hasattr(node, "sub_agents")
    return "agent" if is_agent else "function"


def _route(route: Any) -> str:
    if route is None:
        return ""
    routes = route if isinstance(route, list | tuple | set | frozenset) else [route]
    return ", ".join("default" if each == "__DEFAULT__" else str(each) for each in routes)


def _named_in(modules: Iterable[ModuleType], folder: Path) -> Iterable[tuple[str, str]]:
    """Yield the place of each `name="…"` in the source, since objects don't know their line."""
    below = f"{folder}{os.sep}"
    for module in list(modules):  # about a thousand; building a Path for each would be slow
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not file.startswith(below):
            continue
        try:
            lines = Path(file).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            continue
        for number, line in enumerate(lines, 1):
            for name in _NAMED.findall(line):
                yield name, _place(Path(file), number, folder)


def _place(file: Path, line: int, folder: Path) -> str:
    """Return the place, relative to the folder of the apps; "" for the code of a library."""
    return f"{file.relative_to(folder)}:{line}" if file.is_relative_to(folder) else ""
