"""`LoopAgent`: runs its sub-agents repeatedly (adk-runtime 5.4)."""

import asyncio
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from devui.runtime.agents.agent_runs import Pause, Waiting, escalated, has_ended, note_waiting
from devui.runtime.agents.agent_state import BaseAgentState
from devui.runtime.agents.base_agent import BaseAgent, events_of, family, warn_if_idle
from devui.runtime.agents.invocation_context import forget
from devui.runtime.agents.invocation_events import pausing_calls
from devui.runtime.agents.sequential_agent import start_index
from devui.runtime.events.event import Event

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext


class LoopAgentState(BaseAgentState):
    """The sub-agent at work, and its round (from 0)."""

    current_sub_agent: str = ""
    """Its name; empty before the first one has begun."""
    times_looped: int = 0
    """How many rounds have ended."""


@dataclass(slots=True)
class _Round:
    """One round, and how it ended."""

    number: int = 0
    first: int = 0
    """The index of the sub-agent that it begins with."""
    resuming: bool = False
    escalated: bool = False
    paused: bool = False


class LoopAgent(BaseAgent):
    """Runs its sub-agents repeatedly until one escalates or `max_iterations` is reached."""

    max_iterations: int | None = None
    """How many rounds to run at most; with None, only an escalation ends the loop."""

    async def _run_async_impl(self, ctx: "InvocationContext") -> AsyncGenerator[Event, None]:
        warn_if_idle(self)
        if not self.sub_agents:
            return
        state: LoopAgentState | None = self._load_agent_state(ctx, LoopAgentState)
        current = _Round()
        if state is not None:
            first = start_index(self.sub_agents, state.current_sub_agent)
            current = _Round(state.times_looped, first, resuming=True)
        while self.max_iterations is None or current.number < self.max_iterations:
            async with aclosing(self._run_round(ctx, current)) as events:
                async for event in events:
                    yield event
            if current.paused:
                return
            if current.escalated:
                break
            current = _Round(current.number + 1)
            ctx.reset_sub_agent_states(self.name)
            await asyncio.sleep(0)  # so that a loop of silent agents can be stopped
        if ctx.is_resumable:
            yield self._create_agent_state_event(ctx, end_of_agent=True)

    async def _run_round(
        self, ctx: "InvocationContext", current: _Round
    ) -> AsyncGenerator[Event, None]:
        """Run one round, up to the end of the first sub-agent that escalates or pauses."""
        for index, sub_agent in enumerate(self.sub_agents[current.first :]):
            resuming = current.resuming and index == 0
            if ctx.is_resumable and not resuming:
                forget(ctx, sub_agent)
                progress = LoopAgentState(
                    current_sub_agent=sub_agent.name, times_looped=current.number
                )
                yield self._create_agent_state_event(ctx, progress)
            if not (resuming and has_ended(ctx, sub_agent)):
                async with aclosing(self._run_one(ctx, current, sub_agent)) as events:
                    async for event in events:
                        yield event
            current.escalated = current.escalated or (resuming and escalated(ctx, self))
            if current.escalated or current.paused:
                return

    async def _run_one(
        self, ctx: "InvocationContext", current: _Round, sub_agent: BaseAgent
    ) -> AsyncGenerator[Event, None]:
        pause = Pause(ctx, sub_agent)
        tasks = {
            task.name for member in family(sub_agent) for task in member.sub_agents_given_tasks
        }
        async with aclosing(events_of(sub_agent, ctx)) as events:
            async for event in events:
                if not ctx.is_resumable and _keeps_waiting(event, tasks):
                    note_waiting(event, self.name, Waiting(current.number, current.escalated))
                yield event
                pause.watch(event)
                current.escalated = current.escalated or bool(event.actions.escalate)
        current.paused = pause.is_needed


def _keeps_waiting(event: Event, tasks: Collection[str]) -> bool:
    """Return whether it makes a call that is answered later, or gives away one of these tasks."""
    if event.partial:
        return False
    return bool(pausing_calls(event)) or any(c.name in tasks for c in event.get_function_calls())
