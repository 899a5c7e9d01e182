"""Describes how an app is built, in the format of ADK's `build_graph` (adk-web 1.7).

The settings of agents and nodes are read from their pydantic models, so that one module describes
both runtimes. Callbacks, and what only code can express, are left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any, Final, Protocol, runtime_checkable

from pydantic import BaseModel

from devui.worker.engines.kit import App, Kit

_LEFT_OUT: Final = frozenset({"parent_agent", "sub_agents", "nodes", "graph", "edges", "tools"})
"""Settings that refer to parents, or to agents, nodes and tools that are described separately."""
_CONFIGS: Final = frozenset({"context_cache_config", "resumability_config"})
_KINDS: Final = (
    *("SequentialAgent", "LoopAgent", "ParallelAgent", "Workflow"),
    *("AgentTool", "BaseRetrievalTool"),
)
_NODE_TYPES: Final = {"FunctionNode": "function", "ToolNode": "tool", "JoinNode": "join"}
_START: Final = "__START__"


@runtime_checkable
class _Named(Protocol):
    name: str


@runtime_checkable
class _Node(Protocol):
    name: str
    rerun_on_resume: bool


@runtime_checkable
class _Agent(Protocol):
    name: str
    sub_agents: list[Any]


@runtime_checkable
class _Asking(Protocol):
    tools: list[Any]


@runtime_checkable
class _Model(Protocol):
    model: str

    def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any: ...


@runtime_checkable
class _Edge(Protocol):
    from_node: Any
    to_node: Any
    route: Any


@runtime_checkable
class _Workflow(Protocol):
    graph: Any
    edges: list[Any]


def build_of(app: App, kit: Kit) -> dict[str, Any]:
    """Return `build_graph`'s object as `build`, and the classes of agents and tools as `kinds`."""
    build: dict[str, Any] = {"name": app.name, "root_agent": _node(app.root_agent)}
    if app.plugins:
        build["plugins"] = [{"name": plugin.name} for plugin in app.plugins]
    configs = {name: value for name, value in dict(app).items() if name in _CONFIGS}
    build |= {name: _plain(config) for name, config in configs.items() if config is not None}
    return {"build": build, "kinds": dict(_kinds(app.root_agent, kit))}


def _node(node: Any) -> dict[str, Any]:
    """Describe a node with its settings and everything below it."""
    fields = dict(_settings(node))
    below = node.sub_agents if isinstance(node, _Agent) else []
    if isinstance(node, _Agent):
        fields["sub_agents"] = [_node(each) for each in below]
    if isinstance(node, _Asking):
        fields["tools"] = list(_tools(node.tools, {each.name for each in below}))
    if isinstance(node, _Workflow) and node.graph is not None:
        fields["edges"] = [_edge_item(each) for each in node.edges]
        fields["graph"] = {
            "nodes": [_graph_node(each) for each in node.graph.nodes],
            "edges": [_edge(each) for each in node.graph.edges],
        }
    return fields


def _settings(node: Any) -> Iterator[tuple[str, Any]]:
    fields = type(node).model_fields
    for name, value in node:
        code = callable(value) or name.endswith("_callback")
        is_public = name in fields and name not in _LEFT_OUT and not fields[name].exclude
        if is_public and not code and value is not None:
            yield name, _plain(value)


def _plain(value: Any) -> Any:
    """Convert a setting to JSON: a model to its name, an agent with everything below it."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, _Model):
        return value.model
    if isinstance(value, _Agent):
        return _node(value)
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence):
        return [_plain(each) for each in value]
    return str(value)


def _tools(tools: Iterable[Any], agents: set[str]) -> Iterator[Any]:
    """Yield the tools as given, toolsets unexpanded, without those that run sub-agents."""
    for tool in tools:
        name = _tool_name(tool)
        if name not in agents:
            yield {"name": name, "type": "tool"}


def _tool_name(tool: Any) -> str:
    """Return the name of a tool or function, or the class name of a toolset."""
    if isinstance(tool, FunctionType | type):
        return tool.__name__
    return tool.name if isinstance(tool, _Named) and not callable(tool) else type(tool).__name__


def _graph_node(node: Any) -> dict[str, Any]:
    if node.name == _START:
        return {"name": _START, "type": "start", "rerun_on_resume": node.rerun_on_resume}
    entry = _node(node)
    if "type" not in entry:
        other = "agent" if "Agent" in type(node).__name__ else "node"
        kind = _NODE_TYPES.get(type(node).__name__, other)
        entry["type"] = "workflow" if "graph" in entry else kind
    return entry


def _edge(edge: Any) -> dict[str, Any]:
    entry = {"from_node": _graph_node(edge.from_node), "to_node": _graph_node(edge.to_node)}
    return entry if edge.route is None else {**entry, "route": _plain(edge.route)}


def _edge_item(item: Any) -> Any:
    """Describe an item of `edges` as its author wrote it: a chain, routes or a whole edge."""
    if isinstance(item, tuple):
        return [_edge_item(each) for each in item]
    if isinstance(item, Mapping):
        return {str(route): _edge_item(each) for route, each in item.items()}
    if isinstance(item, _Edge):
        return _edge(item)
    if isinstance(item, _Agent):
        return _node(item)
    if isinstance(item, _Node):
        return _graph_node(item)
    return {"name": _tool_name(item), "type": "function"} if callable(item) else str(item)


def _kinds(node: Any, kit: Kit) -> Iterator[tuple[str, str]]:
    yield from _kind(node.name, node)
    for tool in node.tools if isinstance(node, _Asking) else ():
        yield from _kind(_tool_name(tool), tool)
    for below in kit.children(node):
        yield from _kinds(below, kit)


def _kind(name: str, thing: Any) -> Iterator[tuple[str, str]]:
    bases = {base.__name__ for base in type(thing).__mro__}
    yield from ((name, kind) for kind in _KINDS if kind in bases)
