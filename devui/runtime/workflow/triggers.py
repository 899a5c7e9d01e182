"""What makes the nodes of a graph run: the ends of the nodes before (adk-runtime 12.3)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from devui.runtime.agents.branches import common_branch
from devui.runtime.workflow.base_node import START

if TYPE_CHECKING:
    from devui.runtime.workflow.graph import Graph
    from devui.runtime.workflow.node_run import Route


@dataclass(frozen=True, slots=True)
class Trigger:
    """One run to be begun."""

    input: Any = None
    branch: str | None = None
    """The branch to go on with; None for the workflow's."""
    own_branch: bool = False
    """Whether ways part here, so that each needs a branch of its own."""


@dataclass(frozen=True, slots=True)
class _Ended:
    output: Any
    branch: str | None


class Triggers:
    """The runs to be begun, in the order in which they came up."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._waiting: dict[str, deque[Trigger]] = {}
        self._ended: dict[str, _Ended] = {}
        """The latest end of each node."""
        self._arrived: dict[str, set[str]] = {}
        """For each node that waits for all, from where it was reached since it last ran."""

    def begin(self, node_input: Any, branch: str | None) -> None:
        """Trigger what follows START."""
        first = self._graph.first()
        self._ended[START.name] = _Ended(node_input, branch)
        for node in first:
            if node.waits_for_all:
                self._arrive(node.name, START.name)
            else:
                self._add(node.name, Trigger(node_input, None, len(first) > 1))

    def end(self, name: str, output: Any, route: Route | None, branch: str | None) -> None:
        """Trigger what follows a node that has ended."""
        self._ended[name] = _Ended(output, branch)
        following = self._graph.after(name, route)
        for node in following:
            if node.waits_for_all:
                self._arrive(node.name, name)
            else:
                self._add(node.name, Trigger(output, branch, len(following) > 1))

    def names(self) -> list[str]:
        """The nodes that have something to do."""
        return list(self._waiting)

    def take(self, name: str) -> Trigger:
        """The next run of the node."""
        trigger = self._waiting[name].popleft()
        if not self._waiting[name]:
            del self._waiting[name]
        return trigger

    def _add(self, name: str, trigger: Trigger) -> None:
        self._waiting.setdefault(name, deque()).append(trigger)

    def _arrive(self, name: str, before: str) -> None:
        arrived = self._arrived.setdefault(name, set())
        arrived.add(before)
        needed = self._graph.before(name)
        if not arrived.issuperset({*needed} - {START.name}):
            return
        self._arrived[name] = set()
        ends = {each: self._ended[each] for each in needed}
        self._add(
            name,
            Trigger(
                {each: end.output for each, end in ends.items()},
                common_branch(end.branch for end in ends.values()),
            ),
        )
