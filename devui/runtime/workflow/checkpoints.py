"""The checkpoints of a workflow in a resumable app (resume seed; adk-runtime 12.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions

if TYPE_CHECKING:
    from devui.runtime.workflow.graph_run import Place
    from devui.runtime.workflow.node_run import NodeRun


async def checkpoint(run: NodeRun, places: Mapping[str, Place] | None) -> None:
    """Record how the nodes of a workflow are doing; without them, that the workflow has ended.

    Nothing is recorded in an app that is not resumable.
    """
    if not run.invocation.is_resumable:
        return
    actions = EventActions(end_of_agent=True) if places is None else _progress(places)
    await run.running.emit(
        Event(
            invocation_id=run.invocation.invocation_id,
            author=run.name,
            branch=run.invocation.branch,
            actions=actions,
        )
    )


def _progress(places: Mapping[str, Place]) -> EventActions:
    nodes = {
        name: {"status": int(place.status), "interrupts": list(place.interrupts)}
        for name, place in places.items()
    }
    return EventActions(agent_state={"nodes": nodes})
