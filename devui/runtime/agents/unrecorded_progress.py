"""Infers the progress of workflow agents without checkpoints (resume seed; adk-runtime 11.2).

An app that records no checkpoints can still take an answer to a call: the call's place in the tree
tells where the workflow agents above it must have been.
"""

from __future__ import annotations

from itertools import dropwhile, pairwise
from typing import TYPE_CHECKING, Any

from devui.runtime.agents.agent_runs import noted_waiting, open_tasks
from devui.runtime.agents.base_agent import family
from devui.runtime.agents.invocation_events import (
    answered_calls,
    awaits_user,
    call_around,
    is_request,
    pausing_calls,
)
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.agents.loop_agent import LoopAgent
from devui.runtime.agents.parallel_agent import ParallelAgent
from devui.runtime.agents.sequential_agent import SequentialAgent

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.workflow.base_node import BaseNode

WORKFLOWS = (SequentialAgent, LoopAgent, ParallelAgent)


def note_progress(
    ctx: InvocationContext, caller: BaseAgent, events: Sequence[Event], callers: Collection[str]
) -> BaseAgent:
    """Record in `ctx` where the workflow agents were, and return the topmost that waits.

    If none waits for the answer, return the caller.

    Args:
        ctx: The invocation, with its history.
        caller: The agent that made the first of the calls, or the one that called it.
        events: The events with the calls that are answered.
        callers: The agents that made them, and those whose tools did.
    """
    path = _waiting_path(ctx, caller, events[0])
    if path[0] is not caller:
        _note(ctx, path, events[0], callers)
        _note_others(ctx, path[0], events[1:], callers)
    return path[0]


def note_progress_of_node(ctx: InvocationContext, node: BaseNode) -> bool:
    """Do the same for a workflow agent that runs as a node, and the latest answer below it.

    Return False if the answer has no effect, so that the agent continues to wait.
    """
    answer = ctx.latest_answer
    if ctx.is_resumable or answer is None or not isinstance(node, WORKFLOWS):
        return True
    before = [
        event
        for event in ctx.history.events
        if event is not answer and (event.author == "user" or _is_of_node(event, ctx.node_path))
    ]
    session = ctx.session.model_copy(update={"events": before})  # in which the agents still wait
    ctx = ctx.model_copy(update={"session": session})
    answered_ids = _newly_answered(answer, before)
    questions = [
        e for e in before if any(call.id in answered_ids for call in e.get_function_calls())
    ]
    timely = [event for event in questions if not _is_late(ctx, node, event)]
    calls = (call_around(before, event) for event in timely)
    callers = {event.author for event in (*timely, *filter(None, calls))}
    _note_others(ctx, node, timely, callers)
    return bool(timely or not questions)


def _is_late(ctx: InvocationContext, node: BaseAgent, request: Event) -> bool:
    """Return whether a sequence or loop in the node has moved on, and waits for another call."""
    agent, _ = caller_of(node, request, ctx.session.events)
    while agent is not node and (parent := agent.parent_agent):
        if isinstance(parent, WORKFLOWS) and _has_passed(ctx, parent, agent, request):
            return _waits(ctx, parent)
        agent = parent
    return False


def _newly_answered(answer: Event, before: Sequence[Event]) -> set[str | None]:
    """Return the calls whose answers aren't mere repetitions; a job may answer a call again."""
    earlier_ids = answered_calls(before, by="user")
    responses = answer.get_function_responses()
    old = {each.id for each in responses if is_request(each.name)} & earlier_ids
    return {each.id for each in responses} - old


def _is_of_node(event: Event, path: str | None) -> bool:
    return f"{event.node_info.path}/".startswith(f"{path}/")


def caller_of(
    root: BaseAgent, event: Event, history: Sequence[Event]
) -> tuple[BaseAgent, str | None]:
    """Return the agent of the tree whose work an event is, and its branch."""
    event = call_around(history, event) or event
    return root.find_agent(event.author) or root, event.branch


def _waiting_path(ctx: InvocationContext, caller: BaseAgent, request: Event) -> list[BaseAgent]:
    """Return the agents from the topmost workflow agent that waits for the answer to the caller.

    Return only the caller if none waits. Where a model agent below a workflow agent has handed
    over, the path includes the agents that did.
    """
    path = [caller]
    while above := _above(ctx, path[0], request):
        path[:0] = above
    while path[0] is not caller and not isinstance(path[0], WORKFLOWS):
        del path[0]  # a model agent, for which nobody waits
    return path


def _above(ctx: InvocationContext, agent: BaseAgent, request: Event) -> list[BaseAgent]:
    """Return the agents that wait for this one, topmost first; empty if none does."""
    parent = agent.parent_agent
    if isinstance(parent, LlmAgent):
        events = ctx.history.events
        return _handed_down(parent, agent, events)
    if not isinstance(parent, WORKFLOWS) or not _waits(ctx, parent):
        return []
    if isinstance(parent, LoopAgent) and noted_waiting(request, parent.name) is None:
        return []
    return [] if _has_passed(ctx, parent, agent, request) else [parent]


def _has_passed(
    ctx: InvocationContext, parent: BaseAgent, agent: BaseAgent, request: Event
) -> bool:
    """Return whether a call has been answered and its sequence or loop has moved on since.

    The parent then waits for a later agent, and another answer to the call is for the call's agent
    alone.
    """
    calls = {call.id for call in pausing_calls(request)}
    if isinstance(parent, ParallelAgent) or calls - answered_calls(ctx.history.events, by="user"):
        return False
    others = {each.name for each in family(parent)} - {each.name for each in family(agent)}
    later = dropwhile(lambda event: event.id != request.id, ctx.history.events)
    return not others.isdisjoint(event.author for event in later)


def _waits(ctx: InvocationContext, agent: BaseAgent) -> bool:
    """Return whether anything below the agent is open; if not, an answer only repeats another."""
    below = list(family(agent))
    return awaits_user(ctx, {each.name for each in below}) or any(
        open_tasks(ctx, each) for each in below
    )


def _handed_down(source: LlmAgent, agent: BaseAgent, events: Sequence[Event]) -> list[BaseAgent]:
    """Return the agents that passed the turn from `source` down to the agent, excluding it."""
    handed = {e.author: e.actions.transfer_to_agent for e in events if e.actions.transfer_to_agent}
    line: list[BaseAgent] = [source]
    while (name := handed.pop(line[-1].name, None)) != agent.name:
        following = source.find_agent(name) if name else None
        if following is None:
            return []
        line.append(following)
    return line


def _note_others(
    ctx: InvocationContext, top: BaseAgent, events: Sequence[Event], callers: Collection[str]
) -> None:
    """Record the progress that each call below the same workflow agent implies."""
    for event in events:
        caller, _ = caller_of(top, event, ctx.session.events)
        path = _waiting_path(ctx, caller, event)
        if path[0].name == top.name:
            _note(ctx, path, event, callers)


def _note(
    ctx: InvocationContext, path: Sequence[BaseAgent], request: Event, callers: Collection[str]
) -> None:
    """Record where each agent of the path must have been when the call was made."""
    for agent, current in pairwise(path):
        state: dict[str, Any] = {}
        if isinstance(agent, SequentialAgent | LoopAgent):
            state["current_sub_agent"] = current.name
        if isinstance(agent, LoopAgent):
            waiting = noted_waiting(request, agent.name)
            state["times_looped"] = waiting.round if waiting else 0
        elif isinstance(agent, ParallelAgent):
            names = [each.name for each in agent.sub_agents if not _is_asked(each, callers)]
            ctx.end_of_agents.update(dict.fromkeys(names, True))
        ctx.agent_states[ctx.agent_state_key(agent.name)] = state


def _is_asked(agent: BaseAgent, callers: Collection[str]) -> bool:
    return any(agent.find_agent(caller) for caller in callers)
