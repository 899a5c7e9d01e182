"""How an invocation that has begun goes on: with whom, and from where (resume seed; 11.2).

The agent that the invocation began with is entered again, and finds its way down to where it was
by the checkpoints in the history. An app that records none can still take an answer to a call:
from the call's place in the tree follows where the workflow agents above it were.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from devui.runtime.agents.agent_progress import forget
from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.invocation_context import InvocationContext
from devui.runtime.agents.invocation_events import events_of
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.agents.loop_agent import LoopAgent
from devui.runtime.agents.node_paths import path_in_tree
from devui.runtime.agents.open_calls import call_of_branch
from devui.runtime.agents.parallel_agent import ParallelAgent
from devui.runtime.agents.sequential_agent import SequentialAgent
from devui.runtime.events.event import Event
from devui.runtime.invocations.agent_choice import last_speaker, latest_branch
from devui.runtime.invocations.messages import Answered
from devui.runtime.workflow.base_node import BaseNode

_WORKFLOWS = (SequentialAgent, LoopAgent, ParallelAgent)


def goes_on(root: BaseNode, *, resumable: bool) -> bool:
    """Whether an invocation that was cut off can be entered again, where no answer leads the way.

    A model agent and a graph find in the history where they were; other agents need checkpoints.
    """
    return resumable or isinstance(root, LlmAgent) or not isinstance(root, BaseAgent)


def node_of_turn(ctx: InvocationContext, root: BaseNode, answer: Answered | None) -> BaseNode:
    """The agent to run, or the root if that is none, but a workflow.

    `ctx` gets what has been recorded of the invocation, and the agent's branch.

    Raises:
        ValueError: the invocation cannot be resumed because its app records no checkpoints.
    """
    if isinstance(root, BaseAgent):
        return agent_of_turn(ctx, root, answer)
    if ctx.resumed_at is not None or answer is not None:
        ctx.populate_invocation_agent_states()
    return root  # it finds out from the history where it was


def agent_of_turn(ctx: InvocationContext, root: BaseAgent, answer: Answered | None) -> BaseAgent:
    """The agent to run; `ctx` gets what has been recorded of the invocation, and the branch.

    Raises:
        ValueError: the invocation cannot be resumed because its app records no checkpoints.
    """
    if ctx.resumed_at is None and answer is None:
        return _placed(ctx, root, last_speaker(root, ctx.session.events))
    ctx.populate_invocation_agent_states()
    if answer is not None:
        return _answering(ctx, root, answer)
    if ctx.is_resumable:
        return _placed(ctx, root, _first(ctx, root))
    if isinstance(root, LlmAgent):
        return _placed(ctx, root, last_speaker(root, ctx.session.events))
    raise ValueError(
        f"Invocation {ctx.invocation_id!r} cannot be resumed: its app records no checkpoints. "
        "Give App resumability_config=ResumabilityConfig(is_resumable=True)."
    )


def _answering(ctx: InvocationContext, root: BaseAgent, answer: Answered) -> BaseAgent:
    caller, branch = _caller(root, answer.event, ctx.session.events)
    first = _first(ctx, root) if ctx.is_resumable else None
    begun = {caller.name, *ctx.agent_states, *ctx.end_of_agents}
    if first and first.name in begun and not ctx.end_of_agents.get(first.name):
        return _placed(ctx, root, first)
    path = _workflow_path(caller)
    if path[0] is caller:
        forget(ctx, caller)  # a call may be answered again when its turn is over
    if path[0] is not caller and not ctx.is_resumable:
        _seed_progress(ctx, path, answer)
    if path[0] is caller:
        ctx.branch = branch
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
    while isinstance(agent, LlmAgent) and agent.is_delegated and agent.parent_agent:
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


def _workflow_path(agent: BaseAgent) -> list[BaseAgent]:
    """The workflow agents right above the agent, topmost first, and the agent itself."""
    path = [agent]
    while isinstance(above := path[0].parent_agent, _WORKFLOWS):
        path.insert(0, above)
    return path


def _seed_progress(ctx: InvocationContext, path: Sequence[BaseAgent], answer: Answered) -> None:
    """Note where each workflow agent of the path must have been when the call was made."""
    events = events_of(ctx.session.events, invocation_id=ctx.invocation_id)
    for agent, current in pairwise(path):
        state: dict[str, Any] = {"current_sub_agent": current.name}
        if isinstance(agent, LoopAgent):
            state["times_looped"] = _rounds(agent, events)
        elif isinstance(agent, ParallelAgent):
            state = {}
            done = [each for each in agent.sub_agents if not _answered(each, answer)]
            ctx.end_of_agents.update({sub_agent.name: True for sub_agent in done})
        ctx.agent_states[agent.name] = state


def _answered(agent: BaseAgent, answer: Answered) -> bool:
    return any(agent.find_agent(caller) for caller in answer.callers)


def _rounds(loop: LoopAgent, events: Sequence[Event]) -> int:
    """How many rounds the loop had finished, from who spoke after whom."""
    order = [
        (index, event)
        for event in events
        for index, sub_agent in enumerate(loop.sub_agents)
        if event.content and sub_agent.find_agent(event.author)
    ]
    return sum(
        after < before or (after == before and _ends_turn(event))
        for (before, event), (after, _) in pairwise(order)
    )


def _ends_turn(event: Event) -> bool:
    return event.is_final_response() and not event.long_running_tool_ids
