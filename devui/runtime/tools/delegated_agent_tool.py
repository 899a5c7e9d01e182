"""A sub-agent that its parent's model calls like a function (adk-runtime 6.2, 12.8)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from devui.runtime.agents.agent_runs import settled_run
from devui.runtime.agents.agent_tree import branch_below, is_within
from devui.runtime.agents.invocation_context import LlmCallsLimitExceededError, forget
from devui.runtime.agents.invocation_events import finishing_response, with_answers
from devui.runtime.models.output_schema import parse_output
from devui.runtime.tools.agent_schemas import as_message, as_text, declared, misfit, output_schema
from devui.runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.context import Context
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event


# A sub-agent that performs tasks for its parent's model (adk-runtime 12.8).


_NOTE = (
    "NOTE: This agent takes its time and may talk with the user. Call it alone; its result comes"
    " when it has finished."
)


class TaskAgentTool(BaseTool):
    """Gives a task to a sub-agent of mode `task`.

    The call stays open: the caller's run ends after the answer with the call, the sub-agent works
    and talks with the user, and the caller continues when the task is done.
    """

    defers_response = True

    def __init__(self, agent: BaseAgent) -> None:
        """Create a tool with the name and description of the agent."""
        super().__init__(name=agent.name, description=f"{agent.description}\n\n{_NOTE}")
        self.agent = agent

    def _get_declaration(self) -> types.FunctionDeclaration:
        declaration = declared(self.agent, self.name)
        return declaration.model_copy(update={"description": self.description})

    async def run_async(self, *, args: dict[str, Any], tool_context: Context) -> Any:
        """Return None if the arguments fit: the call stays open, and the caller's run ends."""
        try:
            as_message(self.agent, args)
        except ValueError as error:
            return misfit(error)
        return None


# The result of an agent that runs inside a tool (adk-runtime 8.7).


@dataclass(slots=True)
class Outcome:
    """The result of a run so far; partial events don't count."""

    content: types.Content | None = None
    error: str | None = None
    grounding: types.GroundingMetadata | None = None
    output: Any = None
    """The output with which the agent finished its task."""
    latest_output: Any = None
    """The output of the latest event that has one."""
    waiting: set[str] = field(default_factory=set)
    """The ids of long-running calls without a response."""

    def take(self, event: Event) -> None:
        """Update the outcome from an event."""
        if event.partial:
            return
        if finishing_response(event) is not None:
            self.output = event.output
        if event.output is not None:
            self.latest_output = event.output
        self.error = event.error_message or self.error
        self.waiting |= event.long_running_tool_ids or set()
        if event.content is not None:
            self.content = event.content
            self.grounding = event.grounding_metadata
            self.waiting -= {response.id or "" for response in event.get_function_responses()}


class DelegatedAgentTool(BaseTool):
    """Runs a sub-agent of mode `single_turn` inside the parent's session.

    The sub-agent sees only its request and its own work since then, on a branch of its own, and
    nothing else of the conversation. Its events belong to the session; its last message is the
    result. The parent's model gets an error for anything that it raises. If it waits for a person,
    the call stays open, and continues where it was once the answer arrives.
    """

    emits_events = True
    defers_response = True

    def __init__(self, agent: BaseAgent) -> None:
        """Create a tool with the name and description of the agent."""
        super().__init__(name=agent.name, description=agent.description)
        self.agent = agent

    def _get_declaration(self) -> types.FunctionDeclaration:
        return declared(self.agent, self.name)

    async def run_async(self, *, args: dict[str, Any], tool_context: Context) -> Any:
        """Run the agent; None if it waits for an answer."""
        try:
            message = as_message(self.agent, args, dense=False)
        except ValueError as error:
            return misfit(error)
        try:
            outcome = await self._run(message, tool_context)
            return None if outcome.waiting else self._result(outcome)
        except LlmCallsLimitExceededError:
            raise
        except Exception as error:  # noqa: BLE001  the parent's model may find another way
            return {"error": f"Agent {self.name!r} failed: {error}"}

    async def _run(self, message: types.Content, tool_context: Context) -> Outcome:
        ctx = self._context(message, tool_context)
        emit = tool_context.get_invocation_context().emit
        if emit is None:
            raise RuntimeError(f"Agent {self.name!r} can only be called by its parent's model.")
        outcome = Outcome()
        earlier = _earlier(ctx)
        for event in earlier:
            outcome.take(event)
        if not earlier:
            forget(ctx, self.agent)
        elif _has_ended(self.agent, earlier):
            return outcome  # only the response to the call was lost
        elif outcome.waiting and _is_answered_elsewhere(ctx):
            return outcome
        async with aclosing(settled_run(self.agent, ctx, as_function=True)) as events:
            async for event in events:
                self._mark(event, ctx)
                await emit(event)
                outcome.take(event)
        return outcome

    def _context(self, message: types.Content, tool_context: Context) -> InvocationContext:
        """Return the invocation as the sub-agent sees it."""
        ctx = tool_context.get_invocation_context()
        branch = branch_below(ctx.branch, f"{self.name}@{tool_context.function_call_id}")
        path = f"{ctx.node_path}/{self.name}@1" if ctx.node_path else None  # from 1 in each call
        own = {"branch": branch, "node_path": path, "emit": None, **self._context_fields(message)}
        return ctx.model_copy(update=own)

    def _context_fields(self, message: types.Content) -> dict[str, Any]:
        """Return the fields of the invocation that tell the sub-agent its request."""
        return {"user_content": message}

    def _mark(self, event: Event, ctx: InvocationContext) -> None:
        """Mark what an event means to the caller, unless the sub-agent has done so."""

    def _result(self, outcome: Outcome) -> dict[str, Any]:
        text = as_text(outcome.content, between="")
        if not text and outcome.error:
            return {"error": outcome.error}
        schema = output_schema(self.agent)
        return _as_response(parse_output(schema, text) if schema is not None else text)


class DelegatedNodeTool(DelegatedAgentTool):
    """Runs a custom agent without a model that has a `mode`.

    It is run like a node without an input: it still sees only the user's message, and the result is
    the `output` of its last event with one.
    """

    def _context_fields(self, message: types.Content) -> dict[str, Any]:
        return {}

    def _mark(self, event: Event, ctx: InvocationContext) -> None:
        if event.output is not None and ctx.node_path:
            event.node_info.output_for = [ctx.node_path]

    def _result(self, outcome: Outcome) -> dict[str, Any]:
        return _as_response(outcome.latest_output)


def _as_response(result: Any) -> dict[str, Any]:
    return result if isinstance(result, dict) else {"result": result}


def _earlier(ctx: InvocationContext) -> list[Event]:
    """Return the events and answers of the call, and of calls within it, from an earlier run."""
    if ctx.begun_at is None:
        return []
    branch = ctx.branch or ""
    own, _ = with_answers(ctx.history.events, lambda event: is_within(event.branch, branch))
    return own


def _is_answered_elsewhere(ctx: InvocationContext) -> bool:
    """Whether the user's latest answer was for something outside the call."""
    if ctx.resumed_at is None:
        return True  # it was a message to the agent of a task
    answer = ctx.latest_answer
    if answer is None or ctx.branch is None:
        return False
    answered_ids = {response.id for response in answer.get_function_responses()}
    return not any(
        call.id in answered_ids
        for event in ctx.history.events
        if is_within(event.branch, ctx.branch)
        for call in event.get_function_calls()
    )


def _has_ended(agent: BaseAgent, events: Sequence[Event]) -> bool:
    return any(event.actions.end_of_agent and event.author == agent.name for event in events)
