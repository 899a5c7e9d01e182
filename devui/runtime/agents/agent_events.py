"""What agents yield when they are run: often code of others (devui's own)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from types import AsyncGeneratorType
from typing import TYPE_CHECKING

from devui.runtime.mistakes import yielding

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event


def events_of(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    """The events of the agent's `run_async`; TypeError if that gives something else."""
    events = agent.run_async(ctx)
    if type(events) is AsyncGeneratorType:  # mostly so, and quick to find out
        return events
    return yielding(events, agent.run_async, f"agent {agent.name!r}", "Events")
