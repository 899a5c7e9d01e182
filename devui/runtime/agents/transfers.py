"""Events by which an agent hands over, and whom it may hand over to (adk-runtime 6.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devui.runtime.mistakes import given

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
        TypeError: this is no name.
    """
    if not isinstance(name, str):
        raise TypeError(
            f"Agent {agent.name!r} is to transfer to {given(name)}; `transfer_to_agent` is the name"
            " of an agent."
        )
    targets = {target.name: target for target in reversed(agent.may_hand_over_to)}
    if name not in targets:
        known = ", ".join(sorted(targets))
        may = f"; it may transfer to: {known}." if known else ", nor to any other agent."
        raise ValueError(
            f"Agent {agent.name!r} cannot transfer to {name!r}{may} Put an agent into `sub_agents`"
            " to make it a target."
        )
    return targets[name]
