"""`SequentialAgent`: runs its sub-agents one after the other (adk-runtime 5.3)."""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from devui.runtime.agents.agent_runs import Pause, has_ended
from devui.runtime.agents.agent_state import BaseAgentState
from devui.runtime.agents.base_agent import BaseAgent, events_of, warn_if_idle
from devui.runtime.agents.invocation_context import forget
from devui.runtime.events.event import Event

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext

logger = logging.getLogger(__name__)


class SequentialAgentState(BaseAgentState):
    """The sub-agent at work; empty when all are done."""

    current_sub_agent: str = ""


class SequentialAgent(BaseAgent):
    """Runs its sub-agents in order; one that waits for an answer pauses the sequence."""

    async def _run_async_impl(self, ctx: "InvocationContext") -> AsyncGenerator[Event, None]:
        warn_if_idle(self)
        state: SequentialAgentState | None = self._load_agent_state(ctx, SequentialAgentState)
        first = 0 if state is None else start_index(self.sub_agents, state.current_sub_agent)
        for index, sub_agent in enumerate(self.sub_agents[first:]):
            resuming = state is not None and index == 0
            if resuming and has_ended(ctx, sub_agent):
                continue  # only the next checkpoint was lost
            if ctx.is_resumable and not resuming:
                forget(ctx, sub_agent)
                progress = SequentialAgentState(current_sub_agent=sub_agent.name)
                yield self._create_agent_state_event(ctx, progress)
            pause = Pause(ctx, sub_agent)
            async with aclosing(events_of(sub_agent, ctx)) as events:
                async for event in events:
                    yield event
                    pause.watch(event)
            if pause.is_needed:
                return
        if ctx.is_resumable and self.sub_agents:
            yield self._create_agent_state_event(ctx, end_of_agent=True)


def start_index(sub_agents: Sequence[BaseAgent], current: str) -> int:
    """Return the index at which to continue from a checkpoint.

    It is past the end if nothing is left, and 0 if the sub-agent is unknown.
    """
    if not current:
        return len(sub_agents)
    for index, sub_agent in enumerate(sub_agents):
        if sub_agent.name == current:
            return index
    logger.warning(
        "Sub-agent %r of the checkpoint does not exist; starting from the first one.", current
    )
    return 0
