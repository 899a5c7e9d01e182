"""The nodes that a tool runs, below the agent that has called it (adk-runtime 8.8, 12.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devui.runtime.workflow.node_run import NodeRun, path_below
from devui.runtime.workflow.records import Records
from devui.runtime.workflow.running import Running

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext


def run_of_tool(ctx: InvocationContext, call_id: str | None, run_id: str | None) -> NodeRun | None:
    """What the nodes of a call are run below; None where no tool is that may tell events.

    A node whose run is named after the call stands right below the agent (adk-runtime 8.8). Others
    have a place that names the call, since another call may run the same nodes: what one of them
    asks or has done must not be taken for the other's (devui's own).
    """
    if ctx.emit is None or ctx.run_child is None:
        return None
    running = Running(ctx.emit, ctx.run_child)
    if ctx.has_begun:
        running.records = Records.of(ctx)
    return NodeRun(
        running=running,
        invocation=ctx.model_copy(update={"emit": None}),
        path=(ctx.node_path or "") if run_id == call_id else _place(ctx, call_id),
        scope=ctx.isolation_scope,
    )


def _place(ctx: InvocationContext, call_id: str | None) -> str:
    """The place of a call below the agent that made it."""
    path = ctx.node_path or ""
    if path.endswith(f"@{call_id}"):
        return path  # a generator's, which tells of its progress there
    made = (call for event in reversed(ctx.session.events) for call in event.get_function_calls())
    name = next((call.name for call in made if call.id == call_id), None)
    return path_below(path, name or "", call_id or "")
