"""Runs a node, attempt by attempt, until it has a result (adk-runtime 12.3, 12.5)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.agents.agent_tree import branch_below
from devui.runtime.agents.context import Context
from devui.runtime.agents.error_events import error_code, error_message
from devui.runtime.agents.unrecorded_progress import note_progress_of_node
from devui.runtime.cancellation import check_cancelled
from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions
from devui.runtime.jsonable import with_lists
from devui.runtime.sessions.state import check_entry
from devui.runtime.telemetry.switch import instruments
from devui.runtime.time_limits import TimeLimit
from devui.runtime.workflow.errors import (
    DynamicNodeFailError,
    NodeInterruptedError,
    NodeTimeoutError,
    WorkflowDataError,
)
from devui.runtime.workflow.node_run import NODE_ENDED, NODE_ROUTE, NodeRun, is_below, path_below
from devui.runtime.workflow.values import text_of

if TYPE_CHECKING:
    from devui.runtime.workflow.base_node import BaseNode
    from devui.runtime.workflow.node_run import NodeEnded, Waiting


# How the events of a node are signed and sent (adk-runtime 12.4).


async def send(run: NodeRun, event: Event) -> None:
    """Sign an event of the run and commit it; return once that is done.

    The event carries what the node has changed since its last event. An output that a node below
    has sent already isn't sent again.
    """
    if event.output is not None and run.claimant_chosen:
        if not (event.actions.state_delta or event.actions.artifact_delta):
            return
        event = event.model_copy(update={"output": None})
    _sign(run, event)
    if not event.partial:
        _load(run, event)
    run.event_ids.append(event.id)
    await run.running.emit(event)
    if event.node_info.message_as_output:
        run.claimant_chosen = True
    run.output_told = run.output_told or event.output is not None


async def send_rest(run: NodeRun) -> None:
    """Send what no event of the run carries yet, after the node has ended.

    If the node gave neither an output nor a route, its end is recorded, so that it isn't run again.
    That event is sent only when something continues after it, since the last event of a whole run
    is taken for its answer.
    """
    tells_output = run.output is not None and not (run.output_told or run.claimant_chosen)
    route = None if run.route_told else run.route
    has_ended = not (run.has_result or run.interrupts or run.waits) and _ends(run)
    changed = run.changes.state_delta or run.changes.artifact_delta
    if not (tells_output or route is not None or has_ended or changed):
        return
    event = Event(
        output=run.output if tells_output else None,
        actions=EventActions(route=route),
        custom_metadata={NODE_ENDED: True} if has_ended else None,
    )
    run.route_told = True
    if has_ended and not changed:
        run.running.ends.append(partial(send, run, event))
        return
    await send(run, event)


def _ends(run: NodeRun) -> bool:
    """Whether the node ends with its run; others wait for more, or consist of nodes."""
    node = run.node
    return node is not None and not node.wait_for_output and not node.finds_its_way


def _sign(run: NodeRun, event: Event) -> None:
    invocation = run.invocation
    event.author = run.author or run.name
    event.invocation_id = invocation.invocation_id
    event.node_info.path = run.path
    if event.branch is None:
        event.branch = invocation.branch
    elif run.node is not None and not run.node.has_own_branches:
        invocation.branch = event.branch = event.branch or None
    if event.output is not None or event.node_info.message_as_output:
        event.node_info.output_for = run.output_for
        if not run.route_told:
            event.custom_metadata = {**(event.custom_metadata or {}), NODE_ROUTE: run.route}
        if not event.get_function_responses():
            event.branch = _branch_of_claim(run, event.branch)
    if event.isolation_scope is None:
        event.isolation_scope = run.scope


def _branch_of_claim(run: NodeRun, branch: str | None) -> str | None:
    """Return the branch of an output: that of the node that takes it as its own.

    A workflow takes the output of its last node, too, but leaves it on that node's branch.
    """
    while (claimer := run.claimed_by) is not None:
        graph = claimer.node is not None and claimer.node.finds_its_way
        if graph and run.invocation.branch != claimer.invocation.branch:
            break
        if not graph:
            branch = claimer.invocation.branch
        run = claimer
    return branch


def _load(run: NodeRun, event: Event) -> None:
    """Move the pending changes to the event."""
    pending = run.changes
    event.actions.state_delta.update(pending.state_delta)
    event.actions.artifact_delta.update(pending.artifact_delta)
    pending.state_delta.clear()
    pending.artifact_delta.clear()


# Two open questions never have the same id, as an answer could be for either (adk-runtime 12.6).


def claim_questions(run: NodeRun, event: Event) -> None:
    """Register the questions that an event of the run asks.

    A node may repeat its own question, and an id may be reused once it has been answered.

    Raises:
        WorkflowDataError: another node of the invocation waits for an answer with that id.
    """
    takes_output = run.invocation.questions
    for interrupt in sorted(event.long_running_tool_ids or ()):
        earlier = run.running.records.asker(interrupt) or run.path
        other = takes_output.setdefault(interrupt, earlier)
        if other != run.path:
            raise WorkflowDataError(
                f"Node {run.path} asks with the id {interrupt!r}, and so does {other}, which waits"
                " for its answer: an answer could be for either. Give each question its own id,"
                " such as RequestInput(interrupt_id=f'...-{ctx.node_path}'), or omit the id."
            )


logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Start:
    """A run to be started."""

    node: BaseNode
    parent: NodeRun
    run_id: str
    input: Any = None
    branch: str | None = None
    """The branch to run on; None for the parent's."""
    own_branch: bool = False
    """Whether it gets a branch of its own below that one."""
    scope: str | None = None
    """The isolation scope; None for the parent's."""
    takes_output: bool = False
    """Whether the parent takes its output as its own."""
    answers: dict[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The path of the node run: `flow@1/pay@1`."""
        return path_below(self.parent.path, self.node.name, self.run_id)

    def run(self, attempt: int = 1) -> NodeRun:
        """Create the run for one attempt."""
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
            claimed_by=parent if self.takes_output else None,
            state_schema=self.node.state_schema or parent.state_schema,
            author=parent.author,
            scope=scope,
        )
        if run.state_schema is not None:
            run.invocation.node_runs.schemas[self.path] = run.state_schema
        run.context = Context(run.invocation, node_run=run)
        return run

    def from_history(self, verdict: NodeEnded | Waiting, branch: str | None) -> NodeRun:
        """Create the run with its result from the history, without running it."""
        run = self.run()
        if branch and not self.node.has_own_branches:
            run.invocation.branch = branch
        run.take(verdict)
        return run


async def perform(start: Start) -> NodeRun:
    """Run a node, with retries if it allows them; the returned run has the last error."""
    running, retry = start.parent.running, start.node.retry_config
    await running.tell_ends()
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
            running.recount(run.path, counts)  # nodes below that have ended aren't run again
        logger.warning("Node %r failed; retrying: %s", run.path, run.error, exc_info=run.error)
        run.invocation.try_again(run.name)
        await asyncio.sleep(retry.delay(attempt))
        attempt += 1


def _wait_on(run: NodeRun) -> None:
    """Let a run without a result wait for its open questions, if there are any."""
    record = run.running.records.get(run.path)
    if record is not None and run.output is None and run.route is None:
        run.interrupts |= record.open


async def _attempt(run: NodeRun, node_input: Any) -> bool:
    """Make one attempt; return whether it failed because of a node that this one's code ran."""
    spans, work = instruments(), _drive(run, node_input)
    try:
        await (work if spans is None else spans.node(run, work))
    except NodeInterruptedError:
        run.waits = not run.interrupts  # like the node below: for an answer, or to continue
    except DynamicNodeFailError as error:
        run.fail(error.error, error.error_node_path)
        return True
    except Exception as error:  # noqa: BLE001  the users' node; raised again where the run started
        if run.invocation.is_news(error):
            await send(run, _failure_event(error))
        run.fail(error, run.path)
    return False


def _failure_event(error: Exception) -> Event:
    return Event(error_code=error_code(error), error_message=error_message(error))


async def _drive(run: NodeRun, node_input: Any) -> None:
    node, context = run.node, run.context
    if node is None or context is None:
        raise RuntimeError("The root run can't be started.")
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
    """Commit an event of a node that was run by a tool of this one; it is signed already."""
    run.interrupts |= event.long_running_tool_ids or set()
    await run.running.emit(event)


def _give(run: NodeRun, event: Event) -> None:
    """Set the output. Storing an iterator consumes it, so the event gets its values as a list."""
    output = event.output
    event.output = with_lists(output)
    run.give(iter(event.output) if isinstance(output, Iterator) else event.output)


def _watch(run: NodeRun, event: Event) -> None:
    """Update the run from one of its events."""
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
