"""What a graph must be like to be run (adk-runtime 12.2)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter

from devui.runtime.workflow.base_node import START, BaseNode
from devui.runtime.workflow.edges import DEFAULT_ROUTE, Edge, RouteValue
from devui.runtime.workflow.errors import GraphValidationError


def check_graph(nodes: Sequence[BaseNode], edges: Sequence[Edge]) -> None:
    """Check all rules.

    Raises:
        GraphValidationError: the graph breaks one of them; which, and what to do about it.
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
            f"Different nodes share the names {twice}. Use the same object where the same node is"
            " meant, and node(..., name='...') for another one."
        )


def _start(nodes: Sequence[BaseNode], edges: Sequence[Edge]) -> Iterator[str]:
    if START not in nodes:
        yield "No edge leaves START, so nothing would run; begin a chain with START."
    for edge in edges:
        if edge.to_node is START:
            yield f"An edge leads from {edge.from_node.name!r} back to START; lead it to a node."
        if edge.from_node is START and edge.route is not None:
            yield (
                f"The edge from START to {edge.to_node.name!r} has the route {edge.route!r}; START"
                " gives no route. Put a node in between that does."
            )


def _unreachable(nodes: Sequence[BaseNode], edges: Sequence[Edge]) -> Iterator[str]:
    reached: set[str] = set()
    ahead = [START.name]
    while ahead:
        name = ahead.pop()
        if name not in reached:
            reached.add(name)
            ahead.extend(e.to_node.name for e in edges if e.from_node.name == name)
    missed = sorted(node.name for node in nodes if node.name not in reached)
    if missed:
        yield f"No way leads from START to {missed}; add an edge, or leave these nodes out."


def _twice(edges: Sequence[Edge]) -> Iterator[str]:
    known: dict[tuple[str, str], list[set[RouteValue]]] = {}
    for edge in edges:
        pair = (edge.from_node.name, edge.to_node.name)
        others = known.setdefault(pair, [])
        if any(not (edge.routes and other) or edge.routes & other for other in others):
            yield f"Two edges lead from {pair[0]!r} to {pair[1]!r} in the same case; leave one out."
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
        given, taken = edge.from_node.output_schema, edge.to_node.input_schema
        if given and taken and given != taken:
            yield (
                f"{edge.from_node.name!r} gives {given}, and {edge.to_node.name!r}, which follows"
                f" it, takes {taken}; make them the same, or put a node in between that converts."
            )


def _conversations(edges: Sequence[Edge]) -> Iterator[str]:
    for edge in edges:
        mode = dict(edge.to_node).get("mode")  # only agents with a model have one
        if mode == "chat" and edge.from_node is not START:
            yield (
                f"Agent {edge.to_node.name!r} has mode='chat' and follows"
                f" {edge.from_node.name!r}. Such an agent talks with the user and takes no input;"
                " use mode='single_turn', or put it right behind START."
            )
