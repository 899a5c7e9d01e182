"""Events by which an agent hands over, and whom it may hand over to (adk-runtime 6.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.events.event import Event


def transfers(agent: BaseAgent, event: Event) -> bool:
    """Whether the agent hands over by the event."""
    return (
        event.actions.transfer_to_agent is not None
        and event.author == agent.name
        and not event.partial
    )


def target_of(agent: BaseAgent, name: str | None) -> BaseAgent:
    """The agent of that name, which `agent` hands over to.

    Raises:
        ValueError: it may not.
    """
    targets = {target.name: target for target in reversed(agent.transfer_targets)}
    if name not in targets:
        raise ValueError(
            f"Agent {agent.name!r} cannot transfer to {name!r}; it may transfer to:"
            f" {', '.join(sorted(targets)) or 'nobody'}. Put an agent into `sub_agents` to make"
            " it a target."
        )
    return targets[name]
