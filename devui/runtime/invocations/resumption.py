"""How an invocation that has begun goes on: with whom, and from where (resume seed; 11.2).

The agent that the invocation began with is entered again, and finds its way down to where it was
by the checkpoints in the history. An app that records none can still take an answer to a call:
from the call's place in the tree follows where the workflow agents above it were.
"""

from collections.abc import Callable

from devui.runtime.agents.agent_tree import latest_of_root, path_in_tree
from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.invocation_context import InvocationContext, forget
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.agents.unrecorded_progress import WORKFLOWS, caller_of, note_progress
from devui.runtime.invocations.agent_choice import last_speaker, latest_branch
from devui.runtime.invocations.messages import Answered
from devui.runtime.sessions.session import Session
from devui.runtime.workflow.base_node import BaseNode

Choice = Callable[[Session, BaseAgent], BaseAgent]
"""Who of a tree takes the next turn of a session."""


def goes_on(root: BaseNode, *, resumable: bool) -> bool:
    """Whether an invocation that was cut off can be entered again, where no answer leads the way.

    A model agent and a graph find in the history where they were; other agents need checkpoints.
    """
    return resumable or isinstance(root, LlmAgent) or not isinstance(root, BaseAgent)


def node_of_turn(
    ctx: InvocationContext, root: BaseNode, answer: Answered | None, choose: Choice
) -> BaseNode | None:
    """The agent to run, or the root if that is none, but a workflow; None if all has been done.

    `ctx` gets what has been recorded of the invocation, and the agent's branch; `choose` tells who
    goes on where nothing has been recorded. An answer that says nothing new is none: where there
    are checkpoints the invocation goes on if it had broken off.

    Raises:
        ValueError: the invocation cannot be resumed because its app records no checkpoints.
    """
    if answer is not None and answer.says_nothing:
        if not ctx.is_resumable:
            return None
        answer = None
    node = _node_of_turn(ctx, root, answer, choose)
    return None if ctx.end_of_agents.get(node.name) else node


def _node_of_turn(
    ctx: InvocationContext, root: BaseNode, answer: Answered | None, choose: Choice
) -> BaseNode:
    if isinstance(root, BaseAgent):
        return agent_of_turn(ctx, root, answer, choose)
    if ctx.resumed_at is not None or answer is not None:
        ctx.populate_invocation_agent_states()
    return root  # it finds out from the history where it was


def agent_of_turn(
    ctx: InvocationContext, root: BaseAgent, answer: Answered | None, choose: Choice
) -> BaseAgent:
    """The agent to run; `ctx` gets what has been recorded of the invocation, and the branch.

    Raises:
        ValueError: the invocation cannot be resumed because its app records no checkpoints.
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
        "Give App resumability_config=ResumabilityConfig(is_resumable=True)."
    )


def _answering(ctx: InvocationContext, root: BaseAgent, answer: Answered) -> BaseAgent:
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
    """Put `ctx` on the agent, its branch and its place in the tree."""
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
    """The agent that the invocation began with."""
    history, first = ctx.session.events, ctx.history.events[0]
    began = next(i for i in range(len(history) - 1, -1, -1) if history[i] is first)
    return last_speaker(root, history[:began])
