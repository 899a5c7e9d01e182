"""Hands a turn over to another agent (adk-runtime 6.6).

A model agent runs the targets of its own model's transfers within its run. Other code of agents,
and callbacks, may also yield an event that transfers: the target then runs when they are done, and
code that replaces a model's turn ends with that event. This works where agents take turns, below a
root with a model; elsewhere, agents cannot hand over.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devui.runtime.agents.abort_switch import Passage
from devui.runtime.agents.agent_runs import has_ended, settled_run
from devui.runtime.agents.agent_tree import is_place_of
from devui.runtime.agents.base_agent import target_of, transfers
from devui.runtime.agents.error_events import error_event
from devui.runtime.agents.invocation_context import forget
from devui.runtime.events.event import Event
from devui.runtime.telemetry.switch import instruments

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.invocation_context import InvocationContext


# Events of several runs in one stream, each committed before its run continues (adk-runtime 5.5).


@dataclass(slots=True)
class _EventInTransit:
    """An event in transit, and the signal that its producer may continue."""

    event: Event
    consumed: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(slots=True)
class _Ended:
    error: BaseException | None


class _Queue(asyncio.Queue["_EventInTransit | _Ended"]):
    """The events that the runs have produced, and the ends of the runs."""

    def is_carrying(self) -> bool:
        """Return whether it holds something that nobody has taken yet."""
        return not self.empty()


async def merge(
    runs: list[AsyncGenerator[Event, None]], passages: list[Passage]
) -> AsyncGenerator[Event, None]:
    """Yield the events of all runs as they come; a producer waits until its event is consumed.

    `passages` are those of the invocation; they include the queue meanwhile.

    The tasks aren't in a TaskGroup: if one failed, it would cancel the consumer, in whose task this
    generator runs.

    Raises:
        BaseException: what the first run to fail raised; the others are cancelled.
    """
    queue = _Queue()
    passages.append(queue)
    tasks = [asyncio.create_task(produce(run, queue)) for run in runs]
    try:
        running = len(tasks)
        while running:
            item = await queue.get()
            if isinstance(item, _EventInTransit):
                yield item.event
                item.consumed.set()
            elif item.error is not None:
                raise item.error
            else:
                running -= 1
    finally:
        passages.remove(queue)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def produce(
    run: AsyncGenerator[Event, None], queue: asyncio.Queue[_EventInTransit | _Ended]
) -> None:
    """Put the events of one run into the queue, each after the previous one was consumed.

    Whatever ends the run is put there, too, for the consumer to raise. Otherwise it would wait
    forever for a task that was cancelled by its own agent, and a SystemExit would leave the event
    loop from here. A consumer that has cancelled the task itself no longer reads the queue, which
    is never full.
    """
    error: BaseException | None = None
    try:
        async with aclosing(run):
            async for event in run:
                produced = _EventInTransit(event)
                await queue.put(produced)
                await produced.consumed.wait()
    except BaseException as exception:  # noqa: BLE001  raised again by the consumer
        error = exception
    queue.put_nowait(_Ended(error))


_STACKED = 20
"""After this many hand-overs in a row, the next agent runs in a task of its own. Each runs
within the one before, so a circle of agents would exhaust Python's stack before reaching
`max_llm_calls`."""


async def hand_over(
    ctx: InvocationContext, source: BaseAgent, target: BaseAgent, *, anew: bool
) -> AsyncGenerator[Event, None]:
    """Run the target and the agents that it hands over to.

    `anew`: run it from the start; otherwise, work that it has done is not repeated.
    """
    if anew:
        forget(ctx, target)
    context = _context_of(source, target, ctx)
    run = follow(target, context, anew=anew)
    if context.hand_overs % _STACKED == 0:
        run = merge([run], ctx.abort_switch.passages)
    if (spans := instruments()) is not None:
        run = spans.handed_over(source, run)
    async with aclosing(run) as events:
        async for event in events:
            yield event


def follow(agent: BaseAgent, ctx: InvocationContext, *, anew: bool) -> AsyncGenerator[Event, None]:
    """Return the agent's events, followed by those of the agent that it hands over to."""
    if _is_left_alone(agent, ctx) or not takes_turns(agent, ctx):
        return settled_run(agent, ctx) if anew or not has_ended(ctx, agent) else _nothing()
    return _follow(agent, ctx, anew=anew)


def takes_turns(agent: BaseAgent, ctx: InvocationContext) -> bool:
    """Return whether the agent has a turn of its own, rather than a part in a workflow agent's."""
    return is_place_of(ctx.node_path, agent.name, agent.root_agent.name)


async def up_to_transfer(
    agent: BaseAgent, ctx: InvocationContext, run: AsyncGenerator[Event, None]
) -> AsyncGenerator[Event, None]:
    """Yield the events up to a hand-over, which ends the agent without its after-callbacks."""
    async with aclosing(run) as events:
        async for event in events:
            yield event
            if transfers(agent, event):
                ctx.end_invocation = True
                return


def _is_left_alone(agent: BaseAgent, ctx: InvocationContext) -> bool:
    """Return whether only `LlmAgent`'s own code can make the agent hand over."""
    plugins = ctx.plugin_manager
    return (
        agent.sees_transfers_through
        and not plugins.has("before_agent_callback", agent)
        and not plugins.has("after_agent_callback", agent)
    )


async def _nothing() -> AsyncGenerator[Event, None]:
    return
    yield


async def _follow(
    agent: BaseAgent, ctx: InvocationContext, *, anew: bool
) -> AsyncGenerator[Event, None]:
    name = None if anew else _target_before(agent, ctx)
    goes_on = name is not None
    if not goes_on:
        if not anew and has_ended(ctx, agent):
            return
        transfer: Event | None = None
        async with aclosing(settled_run(agent, ctx)) as events:
            async for event in events:
                yield event
                if transfers(agent, event):
                    transfer = event
        if transfer is None or ctx.is_seen_through(transfer) or ctx.is_aborted:
            return
        name = transfer.actions.transfer_to_agent
    try:
        target = target_of(agent, name)
    except ValueError as error:
        yield error_event(agent.name, ctx, error)
        raise
    async with aclosing(hand_over(ctx, agent, target, anew=not goes_on)) as events:
        async for event in events:
            yield event


def _target_before(agent: BaseAgent, ctx: InvocationContext) -> str | None:
    """Return the name of the agent it had handed over to when the run was interrupted.

    None if it has to continue itself, as it does after a transfer by its own model.
    """
    own_model = agent.sees_transfers_through
    has_taken_over = has_ended(ctx, agent)
    for event in reversed(ctx.history.events):
        if event.author != agent.name:
            has_taken_over = has_taken_over or event.author != "user"
        elif transfers(agent, event):
            by_model = own_model and event.get_function_responses()
            return event.actions.transfer_to_agent if has_taken_over and not by_model else None
        elif own_model and event.content:
            return None
    return None


def _context_of(source: BaseAgent, target: BaseAgent, ctx: InvocationContext) -> InvocationContext:
    path = ctx.node_path
    if path:
        path = ctx.node_runs.hand_over(path, source, target)
    return ctx.model_copy(update={"node_path": path, "hand_overs": ctx.hand_overs + 1})
