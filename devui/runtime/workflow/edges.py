"""`Edge`, and how the edges of a workflow are written (adk-runtime 12.2)."""

from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, ConfigDict, SerializeAsAny

from devui.runtime.mistakes import given
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.workflow.base_node import START, BaseNode
from devui.runtime.workflow.building import Nodes
from devui.runtime.workflow.errors import WorkflowConfigurationError

DEFAULT_ROUTE = "__DEFAULT__"
"""The route of an edge that is taken when no other edge has the route that a node gave."""

RouteValue = bool | int | str
_SEVERAL = (tuple, list)


class Edge(BaseModel):
    """From one node to the next: always, or when the first gives a certain route."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", defer_build=True)

    from_node: SerializeAsAny[BaseNode]
    """Where it begins."""
    to_node: SerializeAsAny[BaseNode]
    """Where it leads."""
    route: RouteValue | list[RouteValue] | None = None
    """Taken when the node gives this route, or one of these; None: taken always."""

    @property
    def routes(self) -> set[RouteValue]:
        """All its routes; empty if it is taken always."""
        if self.route is None:
            return set()
        return set(self.route) if isinstance(self.route, list) else {self.route}


def edges_of(items: Sequence[Any]) -> list[Edge]:
    """The edges that the items stand for.

    An item is an Edge, or a chain: a tuple of nodes, tuples of nodes (each of them connected with
    each of the next) and dicts of routes (`{route: node}`). Lists do for tuples.

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
            f"`edges` is a list of chains and Edges, and this is neither: {_shown(item)}. Put what"
            " follows each other into a chain, such as edges=[(START, first, second)]."
        )


def _between(left: Any, right: Any, nodes: Nodes) -> Iterator[Edge]:
    if isinstance(right, dict):
        if isinstance(left, dict):
            raise WorkflowConfigurationError(
                "Two dicts of routes follow each other in a chain; write each as a chain of its"
                " own, so that it is clear from which node its routes come."
            )
        _check_routes(right)
        ways = [(target, route) for route, target in right.items()]
    else:
        ways = [(right, None)]
    for target, route in ways:
        for one in _elements(left):
            for other in _elements(target):
                yield Edge(from_node=nodes.of(one), to_node=nodes.of(other), route=route)


def _shown(item: Any) -> str:
    if isinstance(item, BaseNode):
        return "START" if item is START else f"node {item.name!r}"
    return given(item)


def _elements(element: Any) -> list[Any]:
    if isinstance(element, dict):
        return [node for target in element.values() for node in _elements(target)]
    return list(element) if isinstance(element, _SEVERAL) else [element]


def _check_routes(routes: dict[Any, Any]) -> None:
    if not routes:
        raise WorkflowConfigurationError("A dict of routes is empty; give it a route and a node.")
    for route, target in routes.items():
        if not isinstance(route.value if isinstance(route, Enum) else route, RouteValue):
            raise WorkflowConfigurationError(
                f"{route!r} cannot be a route: use a text, a whole number or a bool."
            )
        for node in target if isinstance(target, _SEVERAL) else (target,):
            if not (isinstance(node, BaseNode | BaseTool | str) or callable(node)):
                raise WorkflowConfigurationError(
                    f"Route {route!r} leads to {_shown(node)}, which is no node: give a function,"
                    " an agent, a tool or a node."
                )
