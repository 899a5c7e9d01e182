"""`Graph`: the nodes of a workflow and the edges between them (adk-runtime 12.2, 12.3)."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import Enum
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, ConfigDict, SerializeAsAny

from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.mistakes import brief
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.node_tool import NodeTool
from devui.runtime.workflow.base_node import START, BaseNode
from devui.runtime.workflow.errors import GraphValidationError, WorkflowConfigurationError
from devui.runtime.workflow.function_node import FunctionNode
from devui.runtime.workflow.node_run import Route
from devui.runtime.workflow.parallel_worker import ParallelWorker
from devui.runtime.workflow.tool_node import ToolNode

# Turns what authors write in a graph into nodes (adk-runtime 12.2, 12.8).


def as_node(node_like: Any, **fields: Any) -> BaseNode:
    """Return a node: a node as it is, a tool or function wrapped, an agent prepared for a graph.

    Args:
        node_like: What to make a node from; the text "START" stands for START.
        fields: Fields to set on the node; None leaves a field as it is.

    Raises:
        WorkflowConfigurationError: it can't be a node.
    """
    settings = {name: value for name, value in fields.items() if value is not None}
    if isinstance(node_like, str) and node_like == "START":
        return START
    if isinstance(node_like, LlmAgent):
        return _agent(node_like, settings)
    if settings.get("require_confirmation") or settings.get("auth_config"):
        settings.setdefault("rerun_on_resume", True)
    if isinstance(node_like, NodeTool):
        own_name = {"name": node_like.name} if node_like.name != node_like.node.name else {}
        return as_node(node_like.node, **{**own_name, **settings})
    if isinstance(node_like, FunctionNode):
        return node_like.model_copy(update=settings) if settings else node_like
    if isinstance(node_like, BaseNode | BaseTool):
        return _node_with(node_like, settings)
    if callable(node_like):
        return FunctionNode(func=node_like, **settings)
    raise WorkflowConfigurationError(
        f"{brief(node_like)} cannot be a node: pass a function, an agent, a tool or a node, or a"
        " tuple of those to run in parallel."
    )


def _node_with(node_like: BaseNode | BaseTool, settings: dict[str, Any]) -> BaseNode:
    """Make a node from a tool or node, which asks for consent and credentials itself."""
    _refuse_consent(node_like, settings)
    for name in ("parameter_binding", "auth_config"):
        settings.pop(name, None)
    if isinstance(node_like, BaseTool):
        return ToolNode(tool=node_like, **{"name": node_like.name, **settings})
    if isinstance(node_like, BaseAgent):
        settings.setdefault("rerun_on_resume", True)  # answers are for the nodes below it
    return node_like.model_copy(update=settings) if settings else node_like


def _refuse_consent(node_like: Any, settings: dict[str, Any]) -> None:
    if settings.pop("require_confirmation", None):
        raise WorkflowConfigurationError(
            f"require_confirmation is only for functions; {node_like.name!r} is a"
            f" {type(node_like).__name__}. Put a function that asks before it."
        )


class Nodes:
    """The nodes of one graph; the same object always gives the same node."""

    def __init__(self) -> None:
        self._nodes: dict[int, tuple[Any, BaseNode]] = {}

    def of(self, node_like: Any) -> BaseNode:
        """Return the node for an object in an edge."""
        if id(node_like) not in self._nodes:
            # Keep the object, too: otherwise its id could be reused for another one.
            self._nodes[id(node_like)] = (node_like, as_node(node_like))
        return self._nodes[id(node_like)][1]


def _agent(agent: LlmAgent, settings: dict[str, Any]) -> BaseNode:
    """Return a copy of the agent for one graph.

    Its mode defaults to `chat` below a parent agent, and to `single_turn` otherwise. A parallel
    worker runs once for each item of its input.
    """
    parent = agent.parent_agent
    mode = agent.mode or ("single_turn" if parent is None else "chat")
    update = {"rerun_on_resume": True, **settings, "mode": mode, "parallel_worker": None}
    if mode == "single_turn" and "include_contents" not in agent.model_fields_set:
        update["include_contents"] = "none"
    if mode in {"chat", "task"}:
        update["wait_for_output"] = True
    clone = agent.clone(update)
    clone.parent_agent = parent
    return ParallelWorker(worker=clone) if agent.parallel_worker else clone


# `Edge`, and how the edges of a workflow are written (adk-runtime 12.2).


DEFAULT_ROUTE = "__DEFAULT__"
"""The route of an edge that is taken if no other edge has the route that the node gave."""

RouteValue = bool | int | str
_SEVERAL = (tuple, list)


class Edge(BaseModel):
    """A connection from one node to the next, taken always or only for certain routes."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", defer_build=True)

    from_node: SerializeAsAny[BaseNode]
    """The node at its start."""
    to_node: SerializeAsAny[BaseNode]
    """The node at its end."""
    route: RouteValue | list[RouteValue] | None = None
    """The route or routes for which the edge is taken; None means always."""

    @property
    def routes(self) -> set[RouteValue]:
        """All its routes; empty if it is always taken."""
        if self.route is None:
            return set()
        return set(self.route) if isinstance(self.route, list) else {self.route}


def edges_of(items: Sequence[Any]) -> list[Edge]:
    """Return the edges described by the items.

    An item is an Edge or a chain: a tuple of nodes, tuples of nodes (each of which is connected to
    each of the next) and dicts of routes (`{route: node}`). Lists work like tuples.

    Raises:
        WorkflowConfigurationError: an item is something else.
    """
    nodes = Nodes()
    return [edge for item in items for edge in _edges(item, nodes)]


def _edges(item: Any, nodes: Nodes) -> Iterator[Edge]:
    if isinstance(item, Edge):
        yield Edge(
            from_node=nodes.of(item.from_node), to_node=nodes.of(item.to_node), route=item.route
        )
    elif isinstance(item, _SEVERAL):
        for left, right in pairwise(item):
            yield from _between(left, right, nodes)
    else:
        raise WorkflowConfigurationError(
            f"`edges` must contain chains and Edges; this is neither: {_node_name(item)}. Put"
            " consecutive nodes into a chain, such as edges=[(START, first, second)]."
        )


def _between(left: Any, right: Any, nodes: Nodes) -> Iterator[Edge]:
    if isinstance(right, dict):
        if isinstance(left, dict):
            raise WorkflowConfigurationError(
                "Two dicts of routes follow each other in a chain. Write each as its own chain, so"
                " that it is clear which node its routes come from."
            )
        _check_routes(right)
        ways = [(target, route) for route, target in right.items()]
    else:
        ways = [(right, None)]
    for target, route in ways:
        for one in _elements(left):
            for other in _elements(target):
                yield Edge(from_node=nodes.of(one), to_node=nodes.of(other), route=route)


def _node_name(item: Any) -> str:
    if isinstance(item, BaseNode):
        return "START" if item is START else f"node {item.name!r}"
    return brief(item)


def _elements(element: Any) -> list[Any]:
    if isinstance(element, dict):
        return [node for target in element.values() for node in _elements(target)]
    return list(element) if isinstance(element, _SEVERAL) else [element]


def _check_routes(routes: dict[Any, Any]) -> None:
    if not routes:
        raise WorkflowConfigurationError("A dict of routes is empty; add a route and a node.")
    for route, target in routes.items():
        if not isinstance(route.value if isinstance(route, Enum) else route, RouteValue):
            raise WorkflowConfigurationError(
                f"{route!r} cannot be a route: use a string, an int or a bool."
            )
        for node in target if isinstance(target, _SEVERAL) else (target,):
            if not (isinstance(node, BaseNode | BaseTool | str) or callable(node)):
                raise WorkflowConfigurationError(
                    f"Route {route!r} leads to {_node_name(node)}, which is not a node: pass a"
                    " function, an agent, a tool or a node."
                )


# The rules that a graph must follow to be run (adk-runtime 12.2).


def check_graph(nodes: Sequence[BaseNode], edges: Sequence[Edge]) -> None:
    """Check all rules.

    Raises:
        GraphValidationError: the graph breaks a rule; the message says which, and how to fix it.
    """
    problems = (
        *_names(nodes),
        *_start(nodes, edges),
        *_unreachable(nodes, edges),
        *_twice(edges),
        *_defaults(edges),
        *_endless(edges),
        *_schemas(edges),
        *_conversations(edges),
    )
    if problems:
        raise GraphValidationError(problems[0])


def _names(nodes: Sequence[BaseNode]) -> Iterator[str]:
    twice = sorted(name for name, count in Counter(n.name for n in nodes).items() if count > 1)
    if twice:
        yield (
            f"Different nodes share the names {twice}. Use the same object for the same node,"
            " and node(..., name='...') for a different one."
        )


def _start(nodes: Sequence[BaseNode], edges: Sequence[Edge]) -> Iterator[str]:
    if START not in nodes:
        yield "No edge leaves START, so nothing would run; begin a chain with START."
    for edge in edges:
        if edge.to_node is START:
            yield f"An edge leads from {edge.from_node.name!r} back to START; point it at a node."
        if edge.from_node is START and edge.route is not None:
            yield (
                f"The edge from START to {edge.to_node.name!r} has the route {edge.route!r}; START"
                " sets no route. Put a node that does in between."
            )


def _unreachable(nodes: Sequence[BaseNode], edges: Sequence[Edge]) -> Iterator[str]:
    reachable: set[str] = set()
    ahead = [START.name]
    while ahead:
        name = ahead.pop()
        if name not in reachable:
            reachable.add(name)
            ahead.extend(e.to_node.name for e in edges if e.from_node.name == name)
    missed = sorted(node.name for node in nodes if node.name not in reachable)
    if missed:
        yield f"No path leads from START to {missed}; add an edge, or remove these nodes."


def _twice(edges: Sequence[Edge]) -> Iterator[str]:
    routes_by_pair: dict[tuple[str, str], list[set[RouteValue]]] = {}
    for edge in edges:
        pair = (edge.from_node.name, edge.to_node.name)
        others = routes_by_pair.setdefault(pair, [])
        if any(not (edge.routes and other) or edge.routes & other for other in others):
            yield f"Two edges lead from {pair[0]!r} to {pair[1]!r} in the same case; remove one."
        others.append(edge.routes)


def _defaults(edges: Sequence[Edge]) -> Iterator[str]:
    for edge in edges:
        if isinstance(edge.route, list) and DEFAULT_ROUTE in edge.route:
            yield (
                f"The edge from {edge.from_node.name!r} to {edge.to_node.name!r} has DEFAULT_ROUTE"
                " in a list of routes; give DEFAULT_ROUTE an edge of its own."
            )


def _endless(edges: Sequence[Edge]) -> Iterator[str]:
    following: dict[str, set[str]] = {}
    for edge in edges:
        if edge.route is None:
            following.setdefault(edge.to_node.name, set()).add(edge.from_node.name)
    try:
        TopologicalSorter(following).prepare()
    except CycleError as error:
        ring = " -> ".join(error.args[1])
        yield f"The graph would never end: {ring}. Give one of these edges a route."


def _schemas(edges: Sequence[Edge]) -> Iterator[str]:
    for edge in edges:
        output_schema, input_schema = edge.from_node.output_schema, edge.to_node.input_schema
        if output_schema and input_schema and output_schema != input_schema:
            yield (
                f"{edge.from_node.name!r} returns {output_schema}, but {edge.to_node.name!r}, which"
                f" follows it, takes {input_schema}; make them the same, or put a converting node"
                " in between."
            )


def _conversations(edges: Sequence[Edge]) -> Iterator[str]:
    for edge in edges:
        mode = dict(edge.to_node).get("mode")  # only agents with a model have one
        if mode == "chat" and edge.from_node is not START:
            yield (
                f"Agent {edge.to_node.name!r} has mode='chat' and follows"
                f" {edge.from_node.name!r}. Such an agent talks with the user and takes no input;"
                " use mode='single_turn', or put it right after START."
            )


logger = logging.getLogger(__name__)


class Graph:
    """A checked graph, with its nodes by name."""

    def __init__(self, items: Sequence[Any]) -> None:
        """Build the graph from the items of `Workflow.edges`.

        Raises:
            WorkflowConfigurationError: an item isn't an edge, or something in it isn't a node.
            GraphValidationError: the edges don't form a graph that can be run.
        """
        self.edges: list[Edge] = edges_of(items)
        node_by_id = {
            id(node): node for edge in self.edges for node in (edge.from_node, edge.to_node)
        }
        self.nodes: list[BaseNode] = list(node_by_id.values())
        check_graph(self.nodes, self.edges)
        self._by_name = {node.name: node for node in self.nodes}
        sources = {edge.from_node.name for edge in self.edges}
        self.last: list[str] = [node.name for node in self.nodes if node.name not in sources]
        """The names of the nodes without successors; one of them gives the workflow's output."""

    def node(self, name: str) -> BaseNode:
        """Return the node with that name."""
        return self._by_name[name]

    def first(self) -> list[BaseNode]:
        """Return the nodes that follow START."""
        return [edge.to_node for edge in self.edges if edge.from_node is START]

    def before(self, name: str) -> list[str]:
        """Return the names of the nodes that lead to this one, in the order of the edges."""
        return list(dict.fromkeys(e.from_node.name for e in self.edges if e.to_node.name == name))

    def after(self, name: str, route: Route | None) -> list[BaseNode]:
        """Return the nodes to run after this one has ended with that route."""
        edges = [edge for edge in self.edges if edge.from_node.name == name]
        routed = [edge for edge in edges if edge.route is not None]
        matching = [edge for edge in routed if not _routes(route).isdisjoint(edge.routes)]
        outgoing = [edge for edge in edges if edge.route is None or edge in matching]
        if not any(edge in matching for edge in routed if edge.route != DEFAULT_ROUTE):
            outgoing += [
                edge for edge in routed if edge.route == DEFAULT_ROUTE and edge not in outgoing
            ]
        if routed and not outgoing:
            logger.warning(
                "Nothing follows node %r: none of its edges has the route %r that it set."
                " Add an edge with that route, or one with DEFAULT_ROUTE.",
                name,
                route,
            )
        return [edge.to_node for edge in outgoing]


def _routes(route: Route | None) -> set[Any]:
    return set(route) if isinstance(route, list) else {route}
