"""Runs a node: attempt by attempt, until it has given what it gives (adk-runtime 12.3, 12.5)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.agents.branches import branch_below
from devui.runtime.agents.context import Context
from devui.runtime.agents.unrecorded_progress import note_progress_of_node
from devui.runtime.cancellation import check_cancelled
from devui.runtime.iterators import with_lists
from devui.runtime.sessions.state import check_entry
from devui.runtime.time_limits import TimeLimit
from devui.runtime.workflow.errors import (
    DynamicNodeFailError,
    NodeInterruptedError,
    NodeTimeoutError,
)
from devui.runtime.workflow.failures import failure_event
from devui.runtime.workflow.node_run import NodeRun, path_below
from devui.runtime.workflow.questions import claim_questions
from devui.runtime.workflow.running import is_below
from devui.runtime.workflow.stamping import send, send_rest
from devui.runtime.workflow.values import text_of

if TYPE_CHECKING:
    from devui.runtime.events.event import Event
    from devui.runtime.workflow.base_node import BaseNode
    from devui.runtime.workflow.replay import Done, Waiting

logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Start:
    """A run that is to begin."""

    node: BaseNode
    parent: NodeRun
    run_id: str
    input: Any = None
    branch: str | None = None
    """The branch to run on; None for that of the parent."""
    own_branch: bool = False
    """Whether it gets a branch of its own below that."""
    scope: str | None = None
    """None for that of the parent."""
    claimed: bool = False
    """Whether its output is that of the parent, too."""
    answers: dict[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The path of the run."""
        return path_below(self.parent.path, self.node.name, self.run_id)

    def run(self, attempt: int = 1) -> NodeRun:
        """The run at its beginning."""
        parent = self.parent
        branch = parent.invocation.branch if self.branch is None else self.branch
        if self.own_branch:
            branch = branch_below(branch, f"{self.node.name}@{self.run_id}")
        scope = parent.scope if self.scope is None else self.scope
        run = NodeRun(
            running=parent.running,
            invocation=parent.invocation.model_copy(
                update={"branch": branch, "node_path": self.path, "isolation_scope": scope}
            ),
            node=self.node,
            parent=parent,
            path=self.path,
            run_id=self.run_id,
            attempt=attempt,
            resume_inputs=dict(self.answers),
            claimed_by=parent if self.claimed else None,
            state_schema=self.node.state_schema or parent.state_schema,
            author=parent.author,
            scope=scope,
        )
        if run.state_schema is not None:
            run.invocation.node_runs.schemas[self.path] = run.state_schema
        run.context = Context(run.invocation, node_run=run)
        return run

    def ghost(self, verdict: Done | Waiting, branch: str | None) -> NodeRun:
        """The run as the history tells of it."""
        run = self.run()
        if branch and not self.node.has_own_branches:
            run.invocation.branch = branch
        run.take(verdict)
        return run


async def perform(start: Start) -> NodeRun:
    """Run a node, again if it fails and may be retried; what it raised stands in the run."""
    running, retry = start.parent.running, start.node.retry_config
    attempt = 1
    while True:
        counts = running.counts_below(start.path)
        run = start.run(attempt)
        from_below = await _attempt(run, start.input)
        if run.error is None or retry is None or not retry.again(run.error, attempt):
            if run.error is None:
                _wait_on(run)
                await send_rest(run)
            return run
        if from_below:
            running.recount(run.path, counts)  # what has ended below is not run again
        logger.warning("Node %r failed and is tried again: %s", run.path, run.error)
        run.invocation.try_again(run.name)
        await asyncio.sleep(retry.delay(attempt))
        attempt += 1


def _wait_on(run: NodeRun) -> None:
    """Let a run that gave nothing wait for the answers that are still missing, if some came."""
    record = run.running.records.get(run.path)
    if record is not None and run.output is None and run.route is None:
        run.interrupts |= record.open


async def _attempt(run: NodeRun, node_input: Any) -> bool:
    """Try once; whether a node failed that the code of this one has run."""
    try:
        await _drive(run, node_input)
    except NodeInterruptedError:
        pass  # a node below waits, and so does this one
    except DynamicNodeFailError as error:
        run.fail(error.error, error.error_node_path)
        return True
    except Exception as error:  # noqa: BLE001  the users' node; raised again where the run began
        if run.invocation.is_news(error):
            await send(run, failure_event(run, error))
        run.fail(error, run.path)
    return False


async def _drive(run: NodeRun, node_input: Any) -> None:
    node, context = run.node, run.context
    if node is None or context is None:
        raise RuntimeError("The top of all runs cannot be run.")
    limit = TimeLimit(node.timeout)
    try:
        if run.resume_inputs and not note_progress_of_node(run.invocation, node):
            return
        async with limit, aclosing(node.run(ctx=context, node_input=node_input)) as events:
            async for event in events:
                if is_below(event.node_info.path, run.path):
                    await _pass_on(run, event)
                else:
                    _watch(run, event)
                    await send(run, event)
    except asyncio.CancelledError as cancelled:
        check_cancelled(cancelled, f"Node {run.path!r}")
        raise
    except TimeoutError as error:
        if not limit.expired or node.timeout is None:
            raise  # the node's own
        raise NodeTimeoutError(node_name=node.name, timeout=node.timeout) from error


async def _pass_on(run: NodeRun, event: Event) -> None:
    """Commit an event of a node that a tool of this one has run: it is signed already."""
    run.interrupts |= event.long_running_tool_ids or set()
    await run.running.emit(event)


def _give(run: NodeRun, event: Event) -> None:
    """Note the output; of an iterator the event has what it yields, for to store it is to read."""
    output = event.output
    event.output = with_lists(output)
    run.give(iter(event.output) if isinstance(output, Iterator) else event.output)


def _watch(run: NodeRun, event: Event) -> None:
    """Take note of what an event of the run says about it."""
    if event.node_info.message_as_output:
        run.output = text_of(event.content or types.Content())  # an agent's latest words
    elif event.output is not None:
        _give(run, event)
    claim_questions(run, event)
    run.interrupts |= event.long_running_tool_ids or set()
    if event.actions.route is not None and event.author in {"", run.name}:
        run.route, run.route_told = event.actions.route, True
    if run.state_schema is not None:
        for key, value in event.actions.state_delta.items():
            check_entry(run.state_schema, key, value)
