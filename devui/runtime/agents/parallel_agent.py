"""`ParallelAgent`: runs its sub-agents at the same time (adk-runtime 5.5)."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from devui.runtime.agents.agent_runs import has_ended
from devui.runtime.agents.agent_state import BaseAgentState
from devui.runtime.agents.agent_tree import branch_below
from devui.runtime.agents.base_agent import BaseAgent, events_of, warn_if_idle
from devui.runtime.agents.hand_over import merge
from devui.runtime.agents.invocation_context import forget
from devui.runtime.events.event import Event

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext


class ParallelAgent(BaseAgent):
    """Runs its sub-agents in parallel, each on its own branch.

    Each sub-agent continues only once its event has been committed. If one escalates or raises,
    the others are stopped; an exception propagates.
    """

    async def _run_async_impl(self, ctx: "InvocationContext") -> AsyncGenerator[Event, None]:
        warn_if_idle(self)
        if not self.sub_agents:
            return
        resuming = self._load_agent_state(ctx, BaseAgentState) is not None
        if not resuming:
            for sub_agent in self.sub_agents:
                forget(ctx, sub_agent)
        if ctx.is_resumable and not resuming:
            yield self._create_agent_state_event(ctx, BaseAgentState())
        runs = [
            events_of(agent, self._branched(ctx, agent))
            for agent in self.sub_agents
            if not has_ended(ctx, agent)
        ]
        names = {agent.name for agent in self.sub_agents}
        escalated = False
        async with aclosing(merge(runs, ctx.abort_switch.passages)) as events:
            async for event in events:
                yield event
                if event.actions.escalate and event.author in names:
                    escalated = True
                    break
        if ctx.is_resumable and (escalated or all(map(ctx.end_of_agents.get, names))):
            yield self._create_agent_state_event(ctx, end_of_agent=True)

    def _branched(self, ctx: "InvocationContext", agent: BaseAgent) -> "InvocationContext":
        branch = branch_below(ctx.branch, f"{self.name}.{agent.name}")
        return ctx.model_copy(update={"branch": branch})
