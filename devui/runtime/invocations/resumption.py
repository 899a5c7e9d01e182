"""How an invocation that has begun goes on: with whom, and from where (resume seed; 11.2).

The agent that the invocation began with is entered again, and finds its way down to where it was
by the checkpoints in the history. An app that records none can still take an answer to a call:
from the call's place in the tree follows where the workflow agents above it were.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from devui.runtime.agents.agent_progress import family, forget
from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.invocation_context import InvocationContext
from devui.runtime.agents.invocation_events import events_of
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.agents.loop_agent import LoopAgent
from devui.runtime.agents.loop_rounds import noted_waiting
from devui.runtime.agents.node_paths import path_in_tree
from devui.runtime.agents.open_calls import awaits_user, call_of_branch
from devui.runtime.agents.parallel_agent import ParallelAgent
from devui.runtime.agents.sequential_agent import SequentialAgent
from devui.runtime.agents.tasks import open_tasks
from devui.runtime.events.event import Event
from devui.runtime.invocations.agent_choice import last_speaker, latest_branch
from devui.runtime.invocations.messages import Answered
from devui.runtime.sessions.session import Session
from devui.runtime.workflow.base_node import BaseNode
from devui.runtime.workflow.workflow import Workflow

Choice = Callable[[Session, BaseAgent], BaseAgent]
"""Who of a tree takes the next turn of a session."""

_WORKFLOWS = (SequentialAgent, LoopAgent, ParallelAgent)


def goes_on(root: BaseNode, *, resumable: bool) -> bool:
    """Whether an invocation that was cut off can be entered again, where no answer leads the way.

    A model agent and a graph find in the history where they were; other agents need checkpoints.
    """
    return resumable or isinstance(root, LlmAgent) or not isinstance(root, BaseAgent)


def node_of_turn(
    ctx: InvocationContext, root: BaseNode, answer: Answered | None, choose: Choice
) -> BaseNode:
    """The agent to run, or the root if that is none, but a workflow.

    `ctx` gets what has been recorded of the invocation, and the agent's branch; `choose` tells who
    goes on where nothing has been recorded.

    Raises:
        ValueError: the invocation cannot be resumed because its app records no checkpoints.
    """
    if isinstance(root, BaseAgent):
        return agent_of_turn(ctx, root, answer, choose)
    if ctx.resumed_at is not None or answer is not None:
        ctx.populate_invocation_agent_states()
    if answer is not None and not ctx.is_resumable:
        _seed_node(ctx, root, answer)
    return root  # it finds out from the history where it was


def agent_of_turn(
    ctx: InvocationContext, root: BaseAgent, answer: Answered | None, choose: Choice
) -> BaseAgent:
    """The agent to run; `ctx` gets what has been recorded of the invocation, and the branch.

    Raises:
        ValueError: the invocation cannot be resumed because its app records no checkpoints.
    """
    if ctx.resumed_at is None and answer is None:
        return _placed(ctx, root, choose(ctx.session, root))
    ctx.populate_invocation_agent_states()
    if answer is not None:
        return _answering(ctx, root, answer)
    if ctx.is_resumable:
        return _placed(ctx, root, _first(ctx, root))
    if isinstance(root, LlmAgent):
        return _placed(ctx, root, choose(ctx.session, root))
    raise ValueError(
        f"Invocation {ctx.invocation_id!r} cannot be resumed: its app records no checkpoints. "
        "Give App resumability_config=ResumabilityConfig(is_resumable=True)."
    )


def _answering(ctx: InvocationContext, root: BaseAgent, answer: Answered) -> BaseAgent:
    caller, branch = _caller(root, answer.event, ctx.session.events)
    first = _first(ctx, root) if ctx.is_resumable else None
    begun = {caller.name, *ctx.agent_states, *ctx.end_of_agents}
    is_over = first is not None and bool(ctx.end_of_agents.get(first.name))
    is_done = is_over and isinstance(caller.parent_agent, _WORKFLOWS)  # the answer is only kept
    if first and first.name in begun and (is_done or not is_over):
        return _placed(ctx, root, first)
    path = [caller] if is_over else _waiting_path(ctx, caller, answer)
    if path[0] is caller:
        forget(ctx, caller)  # a call may be answered again when its turn is over
        ctx.branch = branch
    else:
        _seed_progress(ctx, path, answer)
        _seed_others(ctx, path[0], answer)
    return _begun_with(ctx, root, path[0])


def _caller(
    root: BaseAgent, event: Event, history: Sequence[Event]
) -> tuple[BaseAgent, str | None]:
    """The agent of the tree whose work an event is, and its branch."""
    agent = root.find_agent(event.author)
    if agent is None and (call := call_of_branch(history, event.branch)):
        agent, event = root.find_agent(call.author), call
    return _above_delegates(agent or root, event.branch)


def _above_delegates(agent: BaseAgent, branch: str | None) -> tuple[BaseAgent, str | None]:
    """The agent, or the one above it that called it like a function, and its branch."""
    while agent.is_delegated and agent.parent_agent:
        branch = (branch or "").rpartition(f"{agent.name}@")[0].rstrip(".") or None
        agent = agent.parent_agent
    return agent, branch


def _placed(ctx: InvocationContext, root: BaseAgent, agent: BaseAgent) -> BaseAgent:
    """Put `ctx` on the agent, its branch and its place in the tree."""
    if agent is not root:
        ctx.branch = latest_branch(agent, ctx.session.events)
    return _begun_with(ctx, root, agent)


def _begun_with(ctx: InvocationContext, root: BaseAgent, agent: BaseAgent) -> BaseAgent:
    ctx.agent = agent
    if isinstance(root, LlmAgent):
        ctx.node_path = ctx.node_runs.enter(path_in_tree(agent))
    return agent


def _first(ctx: InvocationContext, root: BaseAgent) -> BaseAgent:
    """The agent that the invocation began with."""
    history = ctx.session.events
    began = next(i for i, each in enumerate(history) if each.invocation_id == ctx.invocation_id)
    return last_speaker(root, history[:began])


def _waiting_path(ctx: InvocationContext, caller: BaseAgent, answer: Answered) -> list[BaseAgent]:
    """From the topmost workflow agent that waits for the answer down to the caller.

    Nothing but the caller if none waits. Where a model agent below a workflow agent has handed
    over, the path leads along those who did.
    """
    path = [caller]
    while above := _above(ctx, path[0], answer):
        path[:0] = above
    while path[0] is not caller and not isinstance(path[0], _WORKFLOWS):
        del path[0]  # a model agent, for which nobody waits
    return path


def _above(ctx: InvocationContext, agent: BaseAgent, answer: Answered) -> list[BaseAgent]:
    """Those who wait for the agent, down to the one right above it; none if nobody does."""
    parent = agent.parent_agent
    if isinstance(parent, LlmAgent):
        events = events_of(ctx.session.events, invocation_id=ctx.invocation_id)
        return _handed_down(parent, agent, events)
    if not isinstance(parent, _WORKFLOWS) or not _waits(ctx, parent):
        return []
    if isinstance(parent, LoopAgent) and noted_waiting(answer.event, parent.name) is None:
        return []
    return [parent]


def _waits(ctx: InvocationContext, agent: BaseAgent) -> bool:
    """Whether anything below the agent is open; a call may be answered again when nothing is."""
    below = list(family(agent))
    return awaits_user(ctx, {each.name for each in below}) or any(
        open_tasks(ctx, each) for each in below
    )


def _handed_down(source: LlmAgent, agent: BaseAgent, events: Sequence[Event]) -> list[BaseAgent]:
    """Those by whose hands the turn came from `source` to the agent, which is not among them."""
    handed = {e.author: e.actions.transfer_to_agent for e in events if e.actions.transfer_to_agent}
    line: list[BaseAgent] = [source]
    while (name := handed.pop(line[-1].name, None)) != agent.name:
        following = source.find_agent(name) if name else None
        if following is None:
            return []
        line.append(following)
    return line


def _seed_node(ctx: InvocationContext, root: BaseNode, answer: Answered) -> None:
    """Do the same for a workflow agent that is a node of a graph."""
    place = answer.event.node_info.path
    node = _node_at(root, place)
    if not isinstance(node, _WORKFLOWS):
        return
    caller = node.find_agent(answer.event.author)
    if caller is not None:
        there = ctx.model_copy(update={"node_path": place})
        _seed_progress(there, _waiting_path(ctx, caller, answer), answer)
        _seed_others(there, node, answer)


def _seed_others(ctx: InvocationContext, top: BaseAgent, answer: Answered) -> None:
    """Do the same for those of the other calls, below the same workflow agent."""
    for event in answer.others:
        other = replace(answer, event=event)
        caller, _ = _caller(top, event, ctx.session.events)
        path = _waiting_path(ctx, caller, other)
        if path[0].name == top.name:
            _seed_progress(ctx, path, other)


def _node_at(root: BaseNode, path: str) -> BaseNode | None:
    """The node at a place such as `wf@1/inner@1/steps@1`; None if no edge leads there."""
    node: BaseNode | None = root
    for segment in path.split("/")[1:]:
        nodes = node.nodes if isinstance(node, Workflow) else []
        name = segment.rpartition("@")[0]
        node = next((each for each in nodes if each.name == name), None)
    return node


def _seed_progress(ctx: InvocationContext, path: Sequence[BaseAgent], answer: Answered) -> None:
    """Note where each agent of the path must have been when the call was made."""
    for agent, current in pairwise(path):
        state: dict[str, Any] = {}
        if isinstance(agent, SequentialAgent | LoopAgent):
            state["current_sub_agent"] = current.name
        if isinstance(agent, LoopAgent):
            state["times_looped"] = _round(answer, agent)
        elif isinstance(agent, ParallelAgent):
            done = [each for each in agent.sub_agents if not _answered(each, answer)]
            ctx.end_of_agents.update({sub_agent.name: True for sub_agent in done})
        ctx.agent_states[ctx.agent_state_key(agent.name)] = state


def _round(answer: Answered, loop: LoopAgent) -> int:
    waiting = noted_waiting(answer.event, loop.name)
    return waiting.round if waiting else 0


def _answered(agent: BaseAgent, answer: Answered) -> bool:
    return any(agent.find_agent(caller) for caller in answer.callers)
