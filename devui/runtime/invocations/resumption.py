"""How an invocation resumes: with which agent, and from where (resume seed; 11.2).

The agent with which the invocation began is entered again, and finds its way down to where it was
by the checkpoints in the history. An app that records none can still accept an answer to a call:
the call's place in the tree shows where the workflow agents above it were.
"""

from collections.abc import Callable

from devui.runtime.agents.agent_tree import latest_of_root, path_in_tree
from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.invocation_context import InvocationContext, forget
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.agents.unrecorded_progress import WORKFLOWS, caller_of, note_progress
from devui.runtime.invocations.agent_choice import last_speaker, latest_branch
from devui.runtime.invocations.messages import AnsweredCalls
from devui.runtime.sessions.session import Session
from devui.runtime.workflow.base_node import BaseNode

Choice = Callable[[Session, BaseAgent], BaseAgent]
"""Chooses the agent of a tree that takes a session's next turn."""


def goes_on(root: BaseNode, *, resumable: bool) -> bool:
    """Return whether an interrupted invocation can be entered again without an answer.

    A model agent and a graph find their place in the history; other agents need checkpoints.
    """
    return resumable or isinstance(root, LlmAgent) or not isinstance(root, BaseAgent)


def node_of_turn(
    ctx: InvocationContext, root: BaseNode, answer: AnsweredCalls | None, choose: Choice
) -> BaseNode | None:
    """Return the agent to run, or the root if it is a graph; None if everything is done.

    `ctx` gets the recorded progress of the invocation and the agent's branch; `choose` picks the
    agent if nothing was recorded. An answer that says nothing new is ignored: with checkpoints, the
    invocation continues if it was interrupted.

    Raises:
        ValueError: The invocation cannot be resumed because its app records no checkpoints.
    """
    if answer is not None and answer.says_nothing:
        if not ctx.is_resumable:
            return None
        answer = None
    node = _node_of_turn(ctx, root, answer, choose)
    return None if ctx.end_of_agents.get(node.name) else node


def _node_of_turn(
    ctx: InvocationContext, root: BaseNode, answer: AnsweredCalls | None, choose: Choice
) -> BaseNode:
    if isinstance(root, BaseAgent):
        return agent_of_turn(ctx, root, answer, choose)
    if ctx.resumed_at is not None or answer is not None:
        ctx.populate_invocation_agent_states()
    return root  # it finds its place in the history


def agent_of_turn(
    ctx: InvocationContext, root: BaseAgent, answer: AnsweredCalls | None, choose: Choice
) -> BaseAgent:
    """Return the agent to run; `ctx` gets the recorded progress of the invocation and the branch.

    Raises:
        ValueError: The invocation cannot be resumed because its app records no checkpoints.
    """
    if ctx.resumed_at is None and answer is None:
        return _place(ctx, root, choose(ctx.session, root))
    ctx.populate_invocation_agent_states()
    if answer is not None:
        return _answering(ctx, root, answer)
    if ctx.is_resumable:
        return _place(ctx, root, _first(ctx, root))
    if isinstance(root, LlmAgent):
        return _place(ctx, root, choose(ctx.session, root))
    raise ValueError(
        f"Invocation {ctx.invocation_id!r} cannot be resumed: its app records no checkpoints. "
        "Pass resumability_config=ResumabilityConfig(is_resumable=True) to the App."
    )


def _answering(ctx: InvocationContext, root: BaseAgent, answer: AnsweredCalls) -> BaseAgent:
    caller, branch = caller_of(root, answer.event, ctx.session.events)
    first = _first(ctx, root) if ctx.is_resumable else None
    names = {caller.name, *ctx.agent_states, *ctx.end_of_agents}
    is_over = first is not None and bool(ctx.end_of_agents.get(first.name))
    is_done = is_over and isinstance(caller.parent_agent, WORKFLOWS)  # the answer is only kept
    if first and first.name in names and (is_done or not is_over):
        return _place(ctx, root, first)
    top = caller if is_over else note_progress(ctx, caller, answer.events, answer.callers)
    if top is caller:
        forget(ctx, caller)  # a call may be answered again when its turn is over
        ctx.branch = branch
    return _begun_with(ctx, root, top)


def _place(ctx: InvocationContext, root: BaseAgent, agent: BaseAgent) -> BaseAgent:
    """Set the agent, its branch and its place in the tree on `ctx`."""
    if agent is not root:
        ctx.branch = latest_branch(agent, ctx.session.events)
    return _begun_with(ctx, root, agent)


def _begun_with(ctx: InvocationContext, root: BaseAgent, agent: BaseAgent) -> BaseAgent:
    ctx.agent = agent
    if isinstance(root, LlmAgent):
        place = path_in_tree(agent)
        if agent is root:
            place = latest_of_root(place, (event.node_info.path for event in ctx.history.events))
        ctx.node_path = ctx.node_runs.enter(place)
    return agent


def _first(ctx: InvocationContext, root: BaseAgent) -> BaseAgent:
    """Return the agent with which the invocation began."""
    history, first = ctx.session.events, ctx.history.events[0]
    began = next(i for i in range(len(history) - 1, -1, -1) if history[i] is first)
    return last_speaker(root, history[:began])
