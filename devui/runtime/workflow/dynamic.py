"""Nodes that the code of a node runs: `ctx.run_node()` (adk-runtime 12.7)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from devui.runtime.workflow.building import as_node
from devui.runtime.workflow.errors import DynamicNodeFailError, NodeInterruptedError
from devui.runtime.workflow.node_runner import Start, perform
from devui.runtime.workflow.replay import Run, judged

if TYPE_CHECKING:
    from devui.runtime.workflow.base_node import BaseNode
    from devui.runtime.workflow.node_run import NodeRun


async def run_child(
    caller: NodeRun,
    node_like: Any,
    node_input: Any = None,
    *,
    use_as_output: bool = False,
    run_id: str | None = None,
    use_sub_branch: bool = False,
    override_branch: str | None = None,
    override_isolation_scope: str | None = None,
    raise_on_wait: bool = False,
) -> Any:
    """Run a node below the caller and return its output; see `Context.run_node`."""
    _check(caller, run_id)
    node = as_node(node_like)
    if use_as_output:
        _claim(caller)
    start = Start(
        node=node,
        parent=caller,
        run_id=run_id or caller.running.next_id(caller.path, node.name),
        input=node_input,
        branch=override_branch,
        own_branch=use_sub_branch,
        scope=override_isolation_scope,
        claimed=use_as_output,
    )
    child = await _once(start)
    if child.error is not None:
        raise DynamicNodeFailError(
            message=f"Node {child.path} failed: {child.error}",
            error=child.error,
            error_node_path=child.error_path,
        ) from child.error
    waits = raise_on_wait and child.output is None and _may_wait(node)
    if child.interrupts or waits:
        caller.interrupts |= child.interrupts
        raise NodeInterruptedError
    return child.output


def _check(caller: NodeRun, run_id: str | None) -> None:
    """Refuse what could not be resumed.

    Raises:
        ValueError: the caller is not run again on resume, or the id could be one of the numbers.
    """
    if caller.node is not None and not caller.node.rerun_on_resume:
        raise ValueError(
            f"Node {caller.name!r} uses ctx.run_node(): it must be made with"
            " node(..., rerun_on_resume=True), since it has to be run again when a node below it"
            " gets the answer that it waits for."
        )
    if run_id and run_id.isdigit():
        raise ValueError(
            f"run_id={run_id!r} could be the number of another run; put a letter into it."
        )


def _claim(caller: NodeRun) -> None:
    if caller.claimant_chosen:
        raise ValueError(
            f"Two nodes below {caller.path} have use_as_output=True; a run has one output."
        )
    caller.claimant_chosen = True


def _may_wait(node: BaseNode) -> bool:
    return node.wait_for_output or node.finds_its_way


async def _once(start: Start) -> NodeRun:
    """The run of that path: as it was, if it has ended before or is at work; else begun."""
    running, path = start.parent.running, start.path
    known = running.children.get(path)
    if known is not None and not (known.done() and known.result().error):
        return await known
    record = running.records.get(path)
    if known is None:
        verdict = judged(start.node, record)
        if not isinstance(verdict, Run):
            return start.ghost(verdict, record.branch if record else None)
        start.answers = verdict.answers
    elif record is not None:
        start.answers = record.answers
    if record is not None and record.scope:
        start.scope = record.scope
    task = asyncio.create_task(perform(start), name=path)
    running.children[path] = task
    try:
        return await task
    except asyncio.CancelledError:
        running.children.pop(path, None)
        raise
