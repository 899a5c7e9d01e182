"""The nodes that a tool runs, below the agent that has called it (adk-runtime 8.8, 12.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devui.runtime.workflow.node_run import NodeRun
from devui.runtime.workflow.records import Records
from devui.runtime.workflow.running import Running

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext


def run_of_tool(ctx: InvocationContext, call_id: str | None) -> NodeRun | None:
    """What the nodes of a call are run below; None where no tool is that may tell events.

    In an invocation that goes on, nodes that had ended are known from the events since the call.
    """
    if ctx.emit is None or ctx.run_child is None:
        return None
    running = Running(ctx.emit, ctx.run_child)
    if ctx.has_begun:
        running.records = Records.of(ctx, since=call_id)
    return NodeRun(
        running=running,
        invocation=ctx.model_copy(update={"emit": None}),
        path=ctx.node_path or "",
        scope=ctx.isolation_scope,
    )
