"""What the code of a workflow's node knows and does about its run (adk-runtime 4.3, 12)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from devui.runtime.agents.readonly_context import ReadonlyContext
from devui.runtime.workflow.tool_runs import run_of_tool

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.workflow.base_node import BaseNode
    from devui.runtime.workflow.node_run import NodeRun

logger = logging.getLogger(__name__)


class NodeContext(ReadonlyContext):
    """The part of a Context that is about nodes; outside of a node there is nothing in it."""

    function_call_id: str | None
    _node_run: NodeRun | None
    _tool_run: NodeRun | None = None
    _own_output: Any = None

    @property
    def node_run(self) -> NodeRun | None:
        """The run of the node; None outside of nodes."""
        return self._node_run

    @property
    def node(self) -> BaseNode | None:
        """The node that runs."""
        return self._node_run.node if self._node_run else None

    @property
    def node_path(self) -> str:
        """Where in a tree or workflow this runs, `wf@1/writer@2`; empty below workflow agents."""
        return self._invocation_context.node_path or ""

    @property
    def run_id(self) -> str:
        """Which run of the node it is; in callbacks empty, and `1` below workflow agents."""
        if self._node_run:
            return self._node_run.run_id
        return "" if self._invocation_context.node_path else "1"

    @property
    def attempt_count(self) -> int:
        """Which attempt of the run it is, from 1 on."""
        return self._node_run.attempt if self._node_run else 1

    @property
    def parent_ctx(self) -> Context | None:
        """The context of the node that this one is part of."""
        parent = self._node_run.parent if self._node_run else None
        return parent.context if parent else None

    @property
    def resume_inputs(self) -> dict[str, Any]:
        """The answers to what the node has asked, by interrupt id."""
        return self._node_run.resume_inputs if self._node_run else {}

    @property
    def interrupt_ids(self) -> set[str]:
        """What the node has asked in this run."""
        return set(self._node_run.interrupts) if self._node_run else set()

    @property
    def error(self) -> Exception | None:
        """What the node raised."""
        return self._node_run.error if self._node_run else None

    @property
    def error_node_path(self) -> str:
        """The path of the node that failed, which may be one below this."""
        return self._node_run.error_path if self._node_run else ""

    @property
    def isolation_scope(self) -> str | None:
        """The scope of the delegated task that this is part of."""
        return self._invocation_context.isolation_scope

    @property
    def output(self) -> Any:
        """The output of the node; assigned, it is told when the node has ended.

        In callbacks and tools it is kept, and nobody takes it, as in google-adk; a warning says so.

        Raises:
            ValueError: it is assigned a second time.
        """
        return self._node_run.output if self._node_run else self._own_output

    @output.setter
    def output(self, value: Any) -> None:
        if self._node_run:
            self._node_run.give(value)
            return
        if self._own_output is not None:
            raise ValueError("`output` was already set; it may be set once.")
        logger.warning(
            "`output` was assigned in a callback or tool, where nobody takes it: it is for nodes of"
            " a workflow. Return a content, or the tool's result, or write the state."
        )
        self._own_output = value

    @property
    def event_author(self) -> str:
        """Who signs the events of the node; empty for the node itself.

        Raises:
            RuntimeError: it is assigned outside of a node.
        """
        return self._node_run.author if self._node_run else ""

    @event_author.setter
    def event_author(self, value: str) -> None:
        self._inside("event_author").author = value

    async def run_node(
        self,
        node: Any,
        node_input: Any = None,
        *,
        use_as_output: bool = False,
        run_id: str | None = None,
        use_sub_branch: bool = False,
        override_branch: str | None = None,
        override_isolation_scope: str | None = None,
        raise_on_wait: bool = False,
    ) -> Any:
        """Run a node below this one, or below the agent whose tool this is; returns its output.

        Await it right here. In an invocation that goes on, a run that had ended is not run again.
        A node that runs nodes has to be made with `rerun_on_resume=True`; a tool is called again.

        Args:
            node: A node, a function, an agent or a tool.
            node_input: Its input.
            use_as_output: Its output is that of this node, too, and told once.
            run_id: An id for the run, with at least one letter; by default they are numbered.
            use_sub_branch: Run it on a branch of its own.
            override_branch: The branch to run it on.
            override_isolation_scope: The isolation scope to run it in.
            raise_on_wait: Wait together with a node that waits for more without having asked.

        Raises:
            DynamicNodeFailError: the node failed.
            ValueError: this node is not run again on resume, or the run id is a number.
            RuntimeError: this is the context of neither a node nor an async tool.
        """
        run = self._node_run or self._of_tool(run_id)
        return await run.running.run_child(
            run,
            node,
            node_input,
            use_as_output=use_as_output,
            run_id=run_id,
            use_sub_branch=use_sub_branch,
            override_branch=override_branch,
            override_isolation_scope=override_isolation_scope,
            raise_on_wait=raise_on_wait,
        )

    def _of_tool(self, run_id: str | None) -> NodeRun:
        """What the nodes are run below that a tool runs: one for all of a call."""
        if self._tool_run is None:
            ctx, call_id = self._invocation_context, self.function_call_id
            self._tool_run = run_of_tool(ctx, call_id, run_id)
        return self._tool_run or self._inside("run_node")

    def _inside(self, name: str) -> NodeRun:
        if self._node_run is None:
            also = " and for async tools that a model calls" if name == "run_node" else ""
            raise RuntimeError(
                f"Context.{name} is for the nodes of a workflow{also}; this is the context of"
                " something else."
            )
        return self._node_run
