"""`ParallelAgent`: its sub-agents at the same time (adk-runtime 5.5)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devui.runtime.agents.agent_progress import forget, has_ended
from devui.runtime.agents.agent_state import BaseAgentState
from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.events.event import Event

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext


class ParallelAgent(BaseAgent):
    """Runs its sub-agents concurrently, each on a branch of its own.

    Each sub-agent goes on only when its event has been committed. One that escalates stops the
    others; so does one that raises, and its exception is raised here.
    """

    async def _run_async_impl(self, ctx: "InvocationContext") -> AsyncGenerator[Event, None]:
        if not self.sub_agents:
            return
        resuming = self._load_agent_state(ctx, BaseAgentState) is not None
        if not resuming:
            for sub_agent in self.sub_agents:
                forget(ctx, sub_agent)
        if ctx.is_resumable and not resuming:
            yield self._create_agent_state_event(ctx, BaseAgentState())
        runs = [
            agent.run_async(self._branched(ctx, agent))
            for agent in self.sub_agents
            if not has_ended(ctx, agent)
        ]
        names = {agent.name for agent in self.sub_agents}
        escalated = False
        async with aclosing(merged(runs)) as events:
            async for event in events:
                yield event
                if event.actions.escalate and event.author in names:
                    escalated = True
                    break
        if ctx.is_resumable and (escalated or all(map(ctx.end_of_agents.get, names))):
            yield self._create_agent_state_event(ctx, end_of_agent=True)

    def _branched(self, ctx: "InvocationContext", agent: BaseAgent) -> "InvocationContext":
        above = f"{ctx.branch}." if ctx.branch else ""
        return ctx.model_copy(update={"branch": f"{above}{self.name}.{agent.name}"})


@dataclass(slots=True)
class _Produced:
    """An event on its way, and the sign that its producer may go on."""

    event: Event
    consumed: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(slots=True)
class _Ended:
    error: BaseException | None


async def merged(runs: list[AsyncGenerator[Event, None]]) -> AsyncGenerator[Event, None]:
    """The events of all runs as they come; a producer goes on when the consumer comes back.

    The tasks are held here and not by a TaskGroup: that would, when one fails, cancel the
    consumer, in whose task this generator is run.

    Raises:
        BaseException: what the first run to fail raised; the others are cancelled.
    """
    queue: asyncio.Queue[_Produced | _Ended] = asyncio.Queue()
    tasks = [asyncio.create_task(produce(run, queue)) for run in runs]
    try:
        running = len(tasks)
        while running:
            item = await queue.get()
            if isinstance(item, _Produced):
                yield item.event
                item.consumed.set()
            elif item.error is not None:
                raise item.error
            else:
                running -= 1
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def produce(
    run: AsyncGenerator[Event, None], queue: "asyncio.Queue[_Produced | _Ended]"
) -> None:
    """Put the events of one run into the queue, each after the one before it was consumed.

    Whatever ends the run is put there too, for the consumer to raise: it would wait for ever for a
    task that was cancelled by its own agent, and a SystemExit would leave the event loop from here.
    A consumer that has cancelled the task itself no longer reads the queue, which never is full.
    """
    error: BaseException | None = None
    try:
        async with aclosing(run):
            async for event in run:
                produced = _Produced(event)
                await queue.put(produced)
                await produced.consumed.wait()
    except BaseException as raised:  # noqa: BLE001  raised again by the consumer
        error = raised
    queue.put_nowait(_Ended(error))
