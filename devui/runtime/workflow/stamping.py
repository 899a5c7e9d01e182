"""How the events of a node are signed and sent (adk-runtime 12.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions
from devui.runtime.workflow.records import NODE_ENDED, NODE_ROUTE

if TYPE_CHECKING:
    from devui.runtime.workflow.node_run import NodeRun


async def send(run: NodeRun, event: Event) -> None:
    """Sign an event of the run and commit it; returns when that is done.

    What the node has changed since its last event goes with it. An output that a node below has
    told already is not told twice.
    """
    if event.output is not None and run.claimant_chosen:
        if not (event.actions.state_delta or event.actions.artifact_delta):
            return
        event = event.model_copy(update={"output": None})
    _sign(run, event)
    if not event.partial:
        _load(run, event)
    await run.running.emit(event)
    if event.node_info.message_as_output:
        run.claimant_chosen = True
    run.output_told = run.output_told or event.output is not None


async def send_rest(run: NodeRun) -> None:
    """Tell what no event of the run has told yet, when the node has ended.

    A node that gave neither output nor route says so: it must not be run again.
    """
    tells_output = run.output is not None and not (run.output_told or run.claimant_chosen)
    route = None if run.route_told else run.route
    ended = not run.has_result and not run.interrupts and _ends(run)
    changed = run.changes.state_delta or run.changes.artifact_delta
    if not (tells_output or route is not None or ended or changed):
        return
    event = Event(
        output=run.output if tells_output else None,
        actions=EventActions(route=route),
        custom_metadata={NODE_ENDED: True} if ended else None,
    )
    run.route_told = True
    await send(run, event)


def _ends(run: NodeRun) -> bool:
    """Whether the node has ended with its run; others wait for more, or are made of nodes."""
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
    """On which branch an output is told: on that of the node that chose it for its own.

    A workflow takes the output of its last node, too, but leaves it where that node runs.
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
    """Put the pending changes on the event."""
    pending = run.changes
    event.actions.state_delta.update(pending.state_delta)
    event.actions.artifact_delta.update(pending.artifact_delta)
    pending.state_delta.clear()
    pending.artifact_delta.clear()
