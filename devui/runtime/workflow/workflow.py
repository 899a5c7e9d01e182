"""`Workflow`: a graph of nodes that is itself a node (adk-runtime 12.2)."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import Field, PrivateAttr

from devui.runtime.sessions.state import StateSchemaError
from devui.runtime.workflow.base_node import START, BaseNode
from devui.runtime.workflow.function_node import FunctionNode
from devui.runtime.workflow.graph import Graph
from devui.runtime.workflow.graph_run import GraphRun
from devui.runtime.workflow.node_run import Records

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context

logger = logging.getLogger(__name__)


class Workflow(BaseNode):
    """Runs its nodes along the edges between them, starting from START.

    It can be the root of an app or a node of another workflow. Its output is that of its last node.
    """

    finds_its_way: ClassVar[bool] = True

    edges: list[Any] = Field(default_factory=list)
    """Edges, or chains such as `(START, first, {"yes": second, "no": (third, fourth)})`: nodes,
    tuples of nodes, and dicts of routes. Functions, agents and tools are nodes, too."""
    rerun_on_resume: bool = True
    """A workflow is always run again, and finds out which of its nodes have ended."""
    max_concurrency: int | None = None
    """How many nodes may run at the same time; None for all. Nodes run by `ctx.run_node()` don't
    count."""

    _graph: Graph | None = PrivateAttr(default=None)

    def model_post_init(self, _context: Any) -> None:
        """Build the graph.

        Raises:
            GraphValidationError: the edges don't form a graph that can be run.
            WorkflowConfigurationError: an item isn't an edge, or something in it isn't a node.
            StateSchemaError: a function has a parameter that isn't a key of `state_schema`.
        """
        if self.edges:
            self._graph = Graph(self.edges)
            self._check_parameters()

    @property
    def graph(self) -> Graph | None:
        """The nodes and edges; None if there are no edges."""
        return self._graph

    @property
    def nodes(self) -> list[BaseNode]:
        """The nodes, without START."""
        all_nodes = self._graph.nodes if self._graph else []
        return [node for node in all_nodes if node is not START]

    def model_copy(self, *, update: Any = None, deep: bool = False) -> Self:
        """Return a copy with other fields and the same nodes."""
        copy = super().model_copy(update=update, deep=deep)
        copy._graph = Graph(copy.edges) if update and "edges" in update else self._graph
        return copy

    def taken_as_tool(self) -> Any:
        """Return what the first nodes take, which must be the same for all that take anything."""
        if self.input_schema is not None:
            return self.input_schema
        own_schemas = [node.taken_as_tool() for node in self._first()]
        schemas = [schema for schema in own_schemas if schema is not None]
        if not own_schemas or any(schema != schemas[0] for schema in schemas):
            return super().taken_as_tool()
        return schemas[0] if schemas else None

    def checked_as_tool(self, value: Any) -> Any:
        """Return the value as validated by the first nodes."""
        value = super().checked_as_tool(value)
        values = [node.checked_as_tool(value) for node in self._first()]
        return values[0] if len(values) == 1 else value

    def _first(self) -> list[BaseNode]:
        """Return the first nodes that take the input; a JoinNode takes the outputs of others."""
        first_nodes = self._graph.first() if self._graph else []
        return [node for node in first_nodes if not node.waits_for_all]

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        run = ctx.node_run
        if self._graph is None or run is None:
            if self._graph is None:
                logger.warning("Workflow %r has nothing to do: it has no `edges`.", self.name)
            return
        run.author = self.name
        running = run.running
        if run.attempt > 1:  # nodes that ended in an earlier attempt aren't run again
            running.recount(run.path, {})
            running.forget_children(run.path)
            running.records = Records.of(run.invocation)
        await GraphRun(self._graph, run, self.max_concurrency).complete(node_input)
        if run.output is not None:
            run.output = self._validate_output_data(run.output)
        return
        yield  # makes this an async generator: the nodes send their events themselves

    def _check_parameters(self) -> None:
        if self.state_schema is None:
            return
        declared = self.state_schema.model_fields
        for node in self.nodes:
            if not isinstance(node, FunctionNode) or node.parameter_binding != "state":
                continue
            for name in node.parameters.from_state:
                if name not in declared:
                    raise StateSchemaError(
                        f"Parameter {name!r} of node {node.name!r} is read from the state, but"
                        f" {self.state_schema.__name__} does not declare it; it declares"
                        f" {sorted(declared)}."
                    )
