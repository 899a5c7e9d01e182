"""The scopes that keep the events of tasks apart (adk-runtime 12.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.llm_agent import LlmAgent
    from devui.runtime.events.event import Event


def finish_of(ctx: InvocationContext, scope: str | None) -> Event | None:
    """The event by which the task of the scope was finished in this invocation."""
    return ctx.history.finishes.get(scope)


def own_scope(agent: BaseAgent, ctx: InvocationContext) -> str | None:
    """The scope that the agent works in: one that nobody has given its task has a scope, too."""
    if ctx.isolation_scope is not None or vars(agent).get("mode") != "task":
        return ctx.isolation_scope
    return ctx.node_path or f"{agent.name}@1"


def in_own_scope(agent: LlmAgent, ctx: InvocationContext) -> InvocationContext:
    """The invocation as the agent sees it."""
    if agent.mode != "task" or ctx.isolation_scope is not None:
        return ctx
    return ctx.model_copy(update={"isolation_scope": own_scope(agent, ctx)})


def awaits_words(ctx: InvocationContext, agent: LlmAgent) -> bool:
    """Whether the agent has a task that is not finished."""
    return agent.mode == "task" and finish_of(ctx, ctx.isolation_scope) is None
