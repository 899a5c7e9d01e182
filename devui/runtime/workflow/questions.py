"""Two open questions never have the same id: an answer would be for either (adk-runtime 12.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devui.runtime.workflow.errors import WorkflowDataError

if TYPE_CHECKING:
    from devui.runtime.events.event import Event
    from devui.runtime.workflow.node_run import NodeRun


def claim_questions(run: NodeRun, event: Event) -> None:
    """Note what an event of the run asks.

    A node may repeat its own question, and an id may be used again once it has been answered.

    Raises:
        WorkflowDataError: another node of the invocation waits for an answer with that id.
    """
    claimed = run.invocation.questions
    for interrupt in sorted(event.long_running_tool_ids or ()):
        earlier = run.running.records.asker(interrupt) or run.path
        other = claimed.setdefault(interrupt, earlier)
        if other != run.path:
            raise WorkflowDataError(
                f"Node {run.path} asks with the id {interrupt!r}, and so does {other}, which waits"
                " for its answer: an answer could be for either. Give each question an id of its"
                " own, such as RequestInput(interrupt_id=f'...-{ctx.node_path}'), or leave the id"
                " out."
            )
