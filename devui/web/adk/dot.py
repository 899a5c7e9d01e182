"""Writes graphs of an app as DOT source, with `adk web`'s names, colors and shapes (adk-web 1.7).

Its front end renders the source, and finds nodes by name and color to mark what has run.
"""

import html
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

_PLAIN: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*|-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)")
_KEYWORDS: Final = frozenset({"node", "edge", "graph", "digraph", "subgraph", "strict"})
_START, _END = "__START__", "__END__"

Pair = tuple[str, str]
"""The names of a caller and of what it called."""


@dataclass(frozen=True, slots=True)
class _Theme:
    background: str
    fill: str
    line: str
    text: str
    arrow: str
    label: str
    start: Pair
    """The fill and line colors."""
    end: Pair


_LIGHT: Final = _Theme(
    *("#F8FAFC", "#FFFFFF", "#94A3B8", "#0F172A", "#64748B", "#475569"),
    start=("#10B981", "#059669"),
    end=("#EF4444", "#DC2626"),
)
_DARK: Final = _Theme(
    *("#0F172A", "#1E293B", "#475569", "#F8FAFC", "#94A3B8", "#CBD5E1"),
    start=("#059669", "#047857"),
    end=("#DC2626", "#B91C1C"),
)
_ICONS: Final = {
    "agent": ("✦", "#42A5F5"),
    "workflow": ("⊷", "#9333EA"),
    "function": ("ƒ", "#10B981"),
    "join": ("⌵", "#F59E0B"),
    "tool": ("🔧", "#6B7280"),
}


# --- build_graph_image: one workflow, or one agent with the agents below it ---------------------


def picture(agent: Mapping[str, Any], *, dark: bool) -> str:
    """Return the graph of a workflow, or of an agent with the agents below it and their tools."""
    theme = _DARK if dark else _LIGHT
    lines = [
        _defaults("graph", bgcolor=theme.background, pad="0.5", nodesep="0.5", ranksep="0.8",
                    fontname="Helvetica", splines="spline"),
        _defaults("node", shape="rect", style="rounded,filled", fillcolor=theme.fill,
                    color=theme.line, penwidth="1.5", fontname="Helvetica",
                    fontcolor=theme.text, fontsize="12", margin="0.25,0.15"),
        _defaults("edge", color=theme.arrow, penwidth="1.2", fontname="Helvetica",
                    fontcolor=theme.label, fontsize="10", arrowhead="vee", arrowsize="0.7"),
    ]  # fmt: skip
    graph = agent.get("graph") or _tree_of(agent)
    lines += _graph(graph, theme, ends=bool(agent.get("graph")))
    return _source("digraph", lines, comment="Workflow Visualization")


def _tree_of(agent: Mapping[str, Any]) -> dict[str, Any]:
    """Return an agent and the agents below it as a graph."""
    nodes = [_agent_node(agent)]
    edges = []
    for parent, below in _pairs_below(agent):
        nodes.append(_agent_node(below))
        edges.append({"from_node": {"name": parent}, "to_node": {"name": below["name"]}})
    return {"nodes": nodes, "edges": edges}


def _agent_node(agent: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": agent["name"], "type": "agent", "tools": agent.get("tools", [])}


def _pairs_below(agent: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for below in agent.get("sub_agents", ()):
        yield agent["name"], below
        yield from _pairs_below(below)


def _graph(graph: Mapping[str, Any], theme: _Theme, *, ends: bool) -> Iterator[str]:
    nodes = {node["name"]: node for node in graph["nodes"] if node["name"] != _START}
    calls = [(name, tool) for name, node in nodes.items() for tool in _names(node.get("tools"))]
    for name, node in nodes.items():
        yield _graph_node(node, theme, _routes(graph["edges"], name))
    for tool in dict.fromkeys(tool for _, tool in calls if tool not in nodes):
        yield _graph_node({"name": tool, "type": "tool"}, theme, [])
    begins = [edge["from_node"]["name"] for edge in graph["edges"]]
    if _START in begins:
        yield _terminal(_START, "START", theme, theme.start)
    for edge in graph["edges"]:
        route = edge.get("route")
        label = f"  {route}" if route else ""
        yield _edge(edge["from_node"]["name"], edge["to_node"]["name"], label=label)
    for name, tool in calls:
        yield _edge(name, tool, style="dashed", color=theme.arrow)
    last = [name for name in nodes if name not in begins]
    if ends and last:
        yield _terminal(_END, "END", theme, theme.end)
        yield from (_edge(name, _END) for name in last)


def _names(tools: Iterable[Any] | None) -> Iterator[str]:
    yield from (tool["name"] if isinstance(tool, Mapping) else str(tool) for tool in tools or ())


def _routes(edges: Iterable[Mapping[str, Any]], name: str) -> list[Any]:
    """Return the routes of a node's outgoing edges; None for an edge without one."""
    return [edge.get("route") for edge in edges if edge["from_node"]["name"] == name]


def _graph_node(node: Mapping[str, Any], theme: _Theme, routes: Collection[Any]) -> str:
    name, kind = node["name"], node.get("type", "node")
    icon, color = _ICONS.get(kind, ("", ""))
    label = html.escape(name)
    if icon:
        label = f'<FONT COLOR="{color}" POINT-SIZE="14">{icon}</FONT> {label}'
    look = {"tooltip": kind.title(), "fillcolor": theme.fill, "style": "rounded,filled"}
    if any(routes):
        look |= {"shape": "diamond", "style": "filled", "margin": "0.0,0.0"}
        look |= {"height": "1.2", "width": "0.8"}
        if all(route and route != "__DEFAULT__" for route in routes):
            label += '<br/><br/><FONT POINT-SIZE="10">⚠️ [NO DEFAULT]</FONT>'
    elif kind == "join":
        look |= {"shape": "oval", "style": "filled", "margin": "0.05,0.05"}
    elif kind == "tool":
        look["style"] = "rounded,filled,dashed"
    markup = icon or "<" in label
    return _node(name, label=f"<{label}>" if markup else name, **look)


def _terminal(name: str, label: str, theme: _Theme, colors: Pair) -> str:
    fill, line = colors
    return _node(name, label=label, shape="oval", style="filled", fillcolor=fill, color=line,
                       fontcolor=theme.text, fontname="Helvetica-Bold", width="0.9",
                       fixedsize="true")  # fmt: skip


# --- graph: the whole tree, with what an event called -------------------------------------------

_LIT, _LIT_EDGE, _GRAY = "#0F5223", "#69CB87", "#cccccc"
_CLUSTERS: Final = {
    "SequentialAgent": " (Sequential Agent)",
    "LoopAgent": " (Loop Agent)",
    "ParallelAgent": " (Parallel Agent)",
    "Workflow": "",
}
"""The suffix for the names of agents that are drawn as a box around what they run."""


def tree(
    agent: Mapping[str, Any],
    kinds: Mapping[str, str],
    highlights: Collection[Pair] = (),
    *,
    dark: bool,
) -> str:
    """Return the graph of all agents and tools of an app.

    `kinds` is from `DescribeBuild`; `highlights` are the calls to mark.
    """
    background = _defaults("graph", rankdir="LR", bgcolor="#333537" if dark else "#ffffff")
    return _source("strict digraph", [background, *_Tree(kinds, highlights).of(agent, None)])


@dataclass(frozen=True, slots=True)
class _Tree:
    kinds: Mapping[str, str]
    highlights: Collection[Pair]

    def of(self, agent: Mapping[str, Any], parent: str | None) -> Iterator[str]:
        """Yield the lines of an agent and of everything below it."""
        name, below = agent["name"], agent.get("sub_agents", [])
        if self._is_cluster(name):
            yield from self._edges_within(agent, parent)
            yield from self._cluster(agent)
        else:
            yield self._node(name, "ellipse")
            for each in below:
                yield from self.of(each, name)
                if not self._is_cluster(each["name"]):
                    yield self._edge(name, each["name"], directed=False)
        for tool in _names(agent.get("tools")):
            yield self._node(tool, "box")
            yield self._edge(name, tool, directed=False)

    def _is_cluster(self, name: str) -> bool:
        return self.kinds.get(name) in _CLUSTERS

    def _cluster(self, agent: Mapping[str, Any]) -> Iterator[str]:
        name = agent["name"] + _CLUSTERS[self.kinds[agent["name"]]]
        yield f"subgraph {_quote(f'cluster_{name}')} {{"
        for each in agent.get("sub_agents") or agent.get("graph", {}).get("nodes", ()):
            if each["name"] != _START:
                yield from self.of(each, agent["name"])
        inner = {"color": "#ffffff", "fontcolor": _GRAY, "label": name, "style": "rounded"}
        yield " ".join(f"{key}={_quote(value)}" for key, value in inner.items())
        yield "}"

    def _edges_within(self, agent: Mapping[str, Any], parent: str | None) -> Iterator[str]:
        kind, names = self.kinds[agent["name"]], [a["name"] for a in agent.get("sub_agents", ())]
        entries = names if kind == "ParallelAgent" else names[:1]
        if parent is not None:
            yield from (self._edge(parent, entry, directed=True) for entry in entries)
        if kind != "ParallelAgent":
            following = [*names[1:], *(names[:1] if kind == "LoopAgent" else ())]
            pairs = zip(names, following, strict=False)
            yield from (self._edge(one, two, directed=True) for one, two in pairs)
        for edge in agent.get("graph", {}).get("edges", ()):
            one, two = edge["from_node"]["name"], edge["to_node"]["name"]
            if one != _START:
                yield self._edge(one, two, directed=True)

    def _node(self, name: str, shape: str) -> str:
        kind = self.kinds.get(name)
        icon = "🤖" if shape == "ellipse" or kind == "AgentTool" else "🔧"
        if kind == "BaseRetrievalTool":
            icon, shape = "🔎", "cylinder"
        look = {"color": _GRAY, "style": "rounded"}
        if any(name in pair for pair in self.highlights):
            look = {"color": _LIT, "fillcolor": _LIT, "style": "filled,rounded"}
        return _node(name, label=f"{icon} {name}", shape=shape, fontcolor=_GRAY, **look)

    def _edge(self, one: str, two: str, *, directed: bool) -> str:
        if (one, two) in self.highlights:
            return _edge(one, two, color=_LIT_EDGE)
        if (two, one) in self.highlights:
            return _edge(one, two, color=_LIT_EDGE, dir="back")
        return _edge(one, two, color=_GRAY, **({} if directed else {"arrowhead": "none"}))


# --- the language -------------------------------------------------------------------------------


def _source(head: str, lines: Iterable[str], comment: str = "") -> str:
    source = [f"// {comment}"] if comment else []
    depth = 1
    source.append(f"{head} {{")
    for line in lines:
        depth -= line == "}"
        source.append("\t" * depth + line)
        depth += line.endswith("{")
    return "\n".join([*source, "}", ""])


def _defaults(kind: str, **attributes: str) -> str:
    """Return the default attributes of the graph, its nodes or its edges."""
    return f"{kind} [{_attribute_list(attributes)}]"


def _node(name: str, *, label: str, **attributes: str) -> str:
    """Return a node with its label, then its other attributes."""
    return f"{_quote(name)} [label={_quote(label)} {_attribute_list(attributes)}]"


def _edge(one: str, two: str, **attributes: str) -> str:
    suffix = f" [{_attribute_list(attributes)}]" if attributes else ""
    return f"{_quote(one)} -> {_quote(two)}{suffix}"


def _attribute_list(attributes: Mapping[str, str]) -> str:
    return " ".join(f"{name}={_quote(value)}" for name, value in sorted(attributes.items()))


def _quote(text: str) -> str:
    """Quote a text unless it is an identifier or an HTML label."""
    if text.startswith("<") and text.endswith(">"):
        return text
    if _PLAIN.fullmatch(text) and text.lower() not in _KEYWORDS:
        return text
    return '"' + text.replace('"', '\\"') + '"'
