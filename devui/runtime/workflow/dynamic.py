"""Nodes that other nodes' code runs with `ctx.run_node()` (adk-runtime 12.7)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from devui.runtime.flows.llm_flows.functions import EventRelay
from devui.runtime.workflow.errors import DynamicNodeFailError, NodeInterruptedError
from devui.runtime.workflow.graph import as_node
from devui.runtime.workflow.node_run import NodeRun, Records, Run, Running, judged
from devui.runtime.workflow.node_runner import Start, perform

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.workflow.base_node import BaseNode


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
        takes_output=use_as_output,
    )
    child = await _once(start)
    await caller.running.tell_ends()
    if child.error is not None:
        raise DynamicNodeFailError(
            message=f"Node {child.path} failed: {child.error}",
            error=child.error,
            error_node_path=child.error_path,
        ) from child.error
    waits = raise_on_wait and child.output is None and (child.waits or _may_wait(node))
    if child.interrupts or waits:
        caller.interrupts |= child.interrupts
        raise NodeInterruptedError
    return child.output


def _check(caller: NodeRun, run_id: str | None) -> None:
    """Refuse a call that could not be resumed.

    Raises:
        ValueError: the caller isn't rerun on resume, or the id could be mistaken for a number.
    """
    if caller.node is not None and not caller.node.rerun_on_resume:
        raise ValueError(
            f"Node {caller.name!r} uses ctx.run_node(). Create it with"
            " node(..., rerun_on_resume=True): it has to run again when a node below it gets the"
            " answer that it waits for."
        )
    if run_id and run_id.isdigit():
        raise ValueError(
            f"run_id={run_id!r} could clash with the number of another run; add a letter to it."
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
    """Return the run at that path. Start it unless it is running, has a result or waits."""
    running, path = start.parent.running, start.path
    child = running.children.get(path)
    if child is not None and not (child.done() and child.result().error):
        return await child
    record = running.records.get(path)
    order = running.order_below(start.parent.path)
    if child is None:
        verdict = judged(start.node, record)
        if not isinstance(verdict, Run):
            await order.turn_of(path)
            order.release(path)
            return start.from_history(verdict, record.branch if record else None)
        start.answers = verdict.answers
    elif record is not None:
        start.answers = record.answers
    if record is not None and record.scope:
        start.scope = record.scope
    if not start.node.finds_its_way:
        order.release(path)
    task = asyncio.create_task(perform(start), name=path)
    running.children[path] = task
    try:
        return await task
    except asyncio.CancelledError:
        running.children.pop(path, None)
        raise
    finally:
        order.release(path)


# A node as the root of an app (adk-runtime 3.3).


async def root_events(ctx: InvocationContext, node: BaseNode) -> AsyncGenerator[Event, None]:
    """Run the node with the user's message as its input, and yield the events of all nodes.

    A node continues once its event has been committed. Raises the error of a node that failed.
    """
    relay: EventRelay[NodeRun] = EventRelay(ctx)
    async with aclosing(relay.events(_root(ctx, node, relay))) as events:
        async for event in events:
            yield event
    if relay.result.error is not None:
        raise relay.result.error


async def _root(ctx: InvocationContext, node: BaseNode, relay: EventRelay[NodeRun]) -> NodeRun:
    running = Running(relay.emit, run_child)
    if ctx.has_begun:
        running.records = Records.of(ctx)
    top = NodeRun(
        running=running,
        invocation=ctx.model_copy(update={"emit": None}),
        scope=ctx.isolation_scope,
    )
    start = Start(node=node, parent=top, run_id=running.next_id("", node.name))
    start.input = ctx.user_content
    record = running.records.get(start.path)
    verdict = judged(node, record)
    if not isinstance(verdict, Run):
        return start.from_history(verdict, None)
    start.answers = verdict.answers
    try:
        run = await perform(start)
        if run.error is not None or run.interrupts or run.waits:
            await running.tell_ends()
        return run
    finally:
        tasks = running.at_work("")
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
