"""`LoopAgent`: its sub-agents again and again (adk-runtime 5.4)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from devui.runtime.agents.agent_state import BaseAgentState
from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.sequential_agent import start_index
from devui.runtime.events.event import Event

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext


class LoopAgentState(BaseAgentState):
    """Which sub-agent is at work, in which round (from 0)."""

    current_sub_agent: str = ""
    times_looped: int = 0


class LoopAgent(BaseAgent):
    """Runs its sub-agents in rounds until one escalates or the rounds are used up."""

    max_iterations: int | None = None
    """Rounds; None goes on until a sub-agent escalates."""

    async def _run_async_impl(self, ctx: "InvocationContext") -> AsyncGenerator[Event, None]:
        if not self.sub_agents:
            return
        state: LoopAgentState | None = self._load_agent_state(ctx, LoopAgentState)
        round_, first = 0, 0
        if state is not None:
            round_ = state.times_looped
            first = start_index(self.sub_agents, state.current_sub_agent)
        resuming = state is not None
        while self.max_iterations is None or round_ < self.max_iterations:
            async with aclosing(self._run_round(ctx, round_, first, resuming)) as events:
                escalated = paused = False
                async for event in events:
                    yield event
                    escalated = escalated or bool(event.actions.escalate)
                    paused = paused or ctx.should_pause_invocation(event)
            if paused:
                return
            if escalated:
                break
            round_, first, resuming = round_ + 1, 0, False
            ctx.reset_sub_agent_states(self.name)
            await asyncio.sleep(0)  # a loop of silent agents must leave room for being stopped
        if ctx.is_resumable:
            yield self._create_agent_state_event(ctx, end_of_agent=True)

    async def _run_round(
        self, ctx: "InvocationContext", round_: int, first: int, resuming: bool
    ) -> AsyncGenerator[Event, None]:
        """One round, up to the sub-agent that escalates or pauses; that one is run to its end."""
        leave = False
        for index, sub_agent in enumerate(self.sub_agents[first:]):
            if ctx.is_resumable and not (resuming and index == 0):
                progress = LoopAgentState(current_sub_agent=sub_agent.name, times_looped=round_)
                yield self._create_agent_state_event(ctx, progress)
            async with aclosing(sub_agent.run_async(ctx)) as events:
                async for event in events:
                    yield event
                    leave = (
                        leave or bool(event.actions.escalate) or ctx.should_pause_invocation(event)
                    )
            if leave:
                return
