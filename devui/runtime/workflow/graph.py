"""`Graph`: the nodes of a workflow and the edges between them (adk-runtime 12.2, 12.3)."""

import logging
from collections.abc import Sequence
from typing import Any

from devui.runtime.workflow.base_node import START, BaseNode
from devui.runtime.workflow.edges import DEFAULT_ROUTE, Edge, edges_of
from devui.runtime.workflow.graph_rules import check_graph
from devui.runtime.workflow.node_run import Route

logger = logging.getLogger(__name__)


class Graph:
    """A checked graph; nodes are found by name."""

    def __init__(self, items: Sequence[Any]) -> None:
        """Build the graph that the items of `Workflow.edges` stand for.

        Raises:
            WorkflowConfigurationError: an item is no edge, or something in it no node.
            GraphValidationError: the edges make no graph that can be run.
        """
        self.edges: list[Edge] = edges_of(items)
        found = {id(node): node for edge in self.edges for node in (edge.from_node, edge.to_node)}
        self.nodes: list[BaseNode] = list(found.values())
        check_graph(self.nodes, self.edges)
        self._by_name = {node.name: node for node in self.nodes}
        left = {edge.from_node.name for edge in self.edges}
        self.last: list[str] = [node.name for node in self.nodes if node.name not in left]
        """The nodes that nothing follows; one of them gives the workflow's output."""

    def node(self, name: str) -> BaseNode:
        """The node of that name."""
        return self._by_name[name]

    def first(self) -> list[BaseNode]:
        """The nodes that follow START."""
        return [edge.to_node for edge in self.edges if edge.from_node is START]

    def before(self, name: str) -> list[str]:
        """The names of the nodes that lead to this one, in the order of the edges."""
        return list(dict.fromkeys(e.from_node.name for e in self.edges if e.to_node.name == name))

    def after(self, name: str, given: Route | None) -> list[BaseNode]:
        """The nodes to run when this one has ended and given that route."""
        edges = [edge for edge in self.edges if edge.from_node.name == name]
        routed = [edge for edge in edges if edge.route is not None]
        matching = [edge for edge in routed if not _given(given).isdisjoint(edge.routes)]
        taken = [edge for edge in edges if edge.route is None or edge in matching]
        if not any(edge in matching for edge in routed if edge.route != DEFAULT_ROUTE):
            taken += [edge for edge in routed if edge.route == DEFAULT_ROUTE and edge not in taken]
        if routed and not taken:
            logger.warning(
                "Nothing follows node %r: none of its edges has the route %r that it gave."
                " Add an edge with that route, or one with DEFAULT_ROUTE.",
                name,
                given,
            )
        return [edge.to_node for edge in taken]


def _given(route: Route | None) -> set[Any]:
    return set(route) if isinstance(route, list) else {route}
