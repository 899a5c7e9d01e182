"""A node as the root of an app (adk-runtime 3.3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from devui.runtime.flows.llm_flows.event_relay import EventRelay
from devui.runtime.workflow.dynamic import run_child
from devui.runtime.workflow.node_run import NodeRun
from devui.runtime.workflow.node_runner import Start, perform
from devui.runtime.workflow.records import Records
from devui.runtime.workflow.replay import Run, judged
from devui.runtime.workflow.running import Running

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.workflow.base_node import BaseNode


async def root_events(ctx: InvocationContext, node: BaseNode) -> AsyncGenerator[Event, None]:
    """Run the node with the user's message as its input, and yield the events of all nodes.

    A node goes on when its event has been committed. Raises what a node raised that failed.
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
        return start.ghost(verdict, None)
    start.answers = verdict.answers
    try:
        return await perform(start)
    finally:
        left = running.at_work("")
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
