"""An agent with a model as a node of a workflow (adk-runtime 12.8)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.agents.agent_events import events_of
from devui.runtime.agents.llm_agent_output import mark_answer
from devui.runtime.workflow.values import as_message

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.llm_agent import LlmAgent
    from devui.runtime.events.event import Event


async def run_as_node(
    agent: LlmAgent, ctx: Context, node_input: Any
) -> AsyncGenerator[Event, None]:
    """Run the agent; one that answers once, or has a task, gets the input as its user's words.

    The output is what its last event says, or the value of its schema; of a task, what came of it.
    """
    invocation = ctx.get_invocation_context()
    if agent.mode in {"single_turn", "task"} and node_input is not None:
        told = as_message(node_input)
        if _says_something(told):
            invocation = invocation.model_copy(update={"user_content": told})
    async with aclosing(events_of(agent, invocation)) as events:
        async for event in events:
            ctx.event_author = event.author
            if agent.mode == "single_turn" and event.author == agent.name:
                _take_answer(agent, ctx.node_path or "", event)
            yield event


def gives_one_answer(ctx: InvocationContext) -> bool:
    """Whether the agent is not in a conversation, but called like a function, or a node's work.

    What it says is its result: as long as a call of its model is open, nobody may go on with that.
    """
    agent = ctx.agent
    if agent is None or vars(agent).get("mode") != "single_turn":
        return False
    if agent.is_called_by_model:
        return True
    if not ctx.node_path:
        return False
    return ctx.node_path.rpartition("/")[2].partition("@")[0] == agent.name


def _says_something(message: types.Content) -> bool:
    """Whether a model can be asked with it; with nothing, the user's own words are taken."""
    return any(part.text != "" for part in message.parts or [])


def _take_answer(agent: LlmAgent, path: str, event: Event) -> None:
    try:
        mark_answer(event, path, agent.output_schema)
    except ValueError as error:
        error.add_note(f"The answer of agent {agent.name!r} does not fit its output_schema.")
        raise
