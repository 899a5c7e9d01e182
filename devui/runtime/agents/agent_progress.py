"""How far the agents of an invocation have come, read back from its events (resume seed)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devui.runtime.agents.agent_tree import family
from devui.runtime.agents.loop_rounds import noted_waiting
from devui.runtime.agents.node_paths import progress_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event


def forget(ctx: InvocationContext, agent: BaseAgent) -> None:
    """Let the agent, and all below it, begin anew when they are run next."""
    for member in family(agent):
        ctx.set_agent_state(member.name)


def has_ended(ctx: InvocationContext, agent: BaseAgent) -> bool:
    """Whether the agent has recorded its end since it was begun."""
    return bool(ctx.end_of_agents.get(ctx.agent_state_key(agent.name)))


def has_started(ctx: InvocationContext, agent: BaseAgent) -> bool:
    """Whether a resumed invocation had been at work on the agent when it broke off."""
    return ctx.agent_state_key(agent.name) in ctx.agent_states


def escalated(ctx: InvocationContext, agent: BaseAgent) -> bool:
    """Whether a sub-agent has escalated since the agent's latest checkpoint, or in the round in
    which it waits.
    """
    below = {member.name for member in family(agent)} - {agent.name}
    for event in reversed(ctx.history.events):
        if event.author == agent.name and event.actions.agent_state is not None:
            return False
        if event.author in below and event.actions.escalate:
            return True
        if waiting := noted_waiting(event, agent.name):
            return waiting.escalated
    return False


def restore(ctx: InvocationContext) -> None:
    """Replay the checkpoints of the invocation into `ctx`.

    An agent that spoke without leaving a checkpoint gets an empty one: it has started. What an
    agent hands the turn to begins anew, so what was recorded of that before is forgotten: the
    rounds of a loop, and agents that were transferred to twice, leave several records.
    """
    root = ctx.agent.root_agent if ctx.agent else None
    latest: dict[str | None, Event] = {}  # of each branch
    for event in ctx.history.events:
        key = progress_key(root, event.node_info.path, event.author)
        called_back = ctx.end_of_agents.get(key) and _is_after_end(event, latest)
        latest[event.branch] = event
        if event.actions.end_of_agent:
            ctx.end_of_agents[key] = True
            ctx.agent_states.pop(key, None)
            ctx.callbacks_left.discard(key)
        elif event.actions.agent_state is not None:
            ctx.agent_states[key] = event.actions.agent_state
            ctx.end_of_agents[key] = False
        elif called_back:
            if event.error_code:
                _has_started(ctx, key)
                ctx.callbacks_left.add(key)
        elif event.author != "user" and event.content and not ctx.agent_states.get(key):
            _has_started(ctx, key)
        for agent in _begun(event, root) if root else ():
            forget(ctx, agent)


def _has_started(ctx: InvocationContext, key: str) -> None:
    ctx.agent_states[key] = {}
    ctx.end_of_agents[key] = False


def _is_after_end(event: Event, latest: Mapping[str | None, Event]) -> bool:
    """Whether the event tells how the callback went that follows upon the end of its agent."""
    before = latest.get(event.branch)
    if before is None or before.author != event.author:
        return False
    return bool(before.actions.end_of_agent)


def _begun(event: Event, root: BaseAgent) -> list[BaseAgent]:
    """The agents that begin after this event."""
    if target := event.actions.transfer_to_agent:
        found = root.find_agent(target)
        return [found] if found else []
    state = event.actions.agent_state
    agent = None if state is None else root.find_agent(event.author)
    if state is None or agent is None:
        return []
    if not state:  # a parallel agent's, which begins all of its sub-agents
        return list(agent.sub_agents)
    current = state.get("current_sub_agent")
    return [sub_agent for sub_agent in agent.sub_agents if sub_agent.name == current]
