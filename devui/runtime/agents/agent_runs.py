"""Runs agents below another: with limits, with retries, as tasks (adk-runtime 12.1, 12.5, 12.8)."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, NamedTuple

from google.genai import types

from devui.runtime.agents.agent_tree import branch_below, has_place_of_its_own
from devui.runtime.agents.base_agent import events_of, family, transfers
from devui.runtime.agents.error_events import error_event
from devui.runtime.agents.invocation_context import forget
from devui.runtime.agents.invocation_events import awaits_user, has_calls_to_run, pausing_calls
from devui.runtime.events.event import Event
from devui.runtime.events.rewinds import live_events_backwards
from devui.runtime.sessions.state import check_entry
from devui.runtime.time_limits import TimeLimit
from devui.runtime.workflow.errors import NodeTimeoutError

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.llm_agent_settings import LlmAgentSettings


# The progress of the agents of an invocation (resume seed).


# The progress of a loop when something below it began to wait.
#
# An app that is not resumable records no checkpoints, so the progress is noted on the event that
# the loop waits for.


_ROUNDS = "__adk_internal_rounds"
"""Key of custom metadata: the `Waiting` of each loop above the agent, by name."""


class Waiting(NamedTuple):
    """The position at which a loop waits."""

    round: int
    """How many rounds have ended."""
    escalated: bool
    """Whether a sub-agent escalated earlier in the same round."""


def note_waiting(event: Event, loop: str, waiting: Waiting) -> None:
    """Note on an uncommitted event that the loop waits for it, and where."""
    metadata = event.custom_metadata or {}
    rounds = {**metadata.get(_ROUNDS, {}), loop: list(waiting)}
    event.custom_metadata = {**metadata, _ROUNDS: rounds}


def noted_waiting(event: Event, loop: str) -> Waiting | None:
    """Return where the loop waits for the event; None if it does not."""
    noted = (event.custom_metadata or {}).get(_ROUNDS, {}).get(loop)
    return None if noted is None else Waiting(*noted)


def has_ended(ctx: InvocationContext, agent: BaseAgent) -> bool:
    """Return whether the agent has recorded its end since it last began."""
    return bool(ctx.end_of_agents.get(ctx.agent_state_key(agent.name)))


def has_started(ctx: InvocationContext, agent: BaseAgent) -> bool:
    """Return whether the agent had begun before the invocation was interrupted."""
    return ctx.agent_state_key(agent.name) in ctx.agent_states


def escalated(ctx: InvocationContext, agent: BaseAgent) -> bool:
    """Return whether a sub-agent has escalated since the agent's latest checkpoint.

    Without a checkpoint, return whether one has escalated in the round in which it waits.
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


# Tasks that the model of an agent gives to agents below it (adk-runtime 12.8).
#
# A task is a function call that stays open while its agent works, over several user messages if
# necessary. Its events have the id of the call as their scope, so that the agent sees them and
# nothing else of the conversation. Which tasks are open, and their progress, is in the history
# alone, so nothing else needs to be restored.


# The scopes that keep the events of tasks apart (adk-runtime 12.8).


def finish_of(ctx: InvocationContext, scope: str | None) -> Event | None:
    """Return the event that finished the task of the scope in this invocation, if any."""
    return ctx.history.finishes.get(scope)


def own_scope(agent: BaseAgent, ctx: InvocationContext) -> str | None:
    """Return the scope that the agent works in; a task agent always has one."""
    if ctx.isolation_scope is not None or vars(agent).get("mode") != "task":
        return ctx.isolation_scope
    return ctx.node_path or f"{agent.name}@1"


def in_own_scope(agent: LlmAgentSettings, ctx: InvocationContext) -> InvocationContext:
    """Return the invocation with the agent's own scope."""
    if agent.mode != "task" or ctx.isolation_scope is not None:
        return ctx
    return ctx.model_copy(update={"isolation_scope": own_scope(agent, ctx)})


def awaits_words(ctx: InvocationContext, agent: LlmAgentSettings) -> bool:
    """Return whether the agent has an unfinished task."""
    return agent.mode == "task" and finish_of(ctx, ctx.isolation_scope) is None


_USER = "user"

Run = Callable[["InvocationContext"], AsyncGenerator[Event, None]]


async def run_with_tasks(
    agent: LlmAgentSettings, ctx: InvocationContext, run: Run
) -> AsyncGenerator[Event, None]:
    """Run the agent with `run`, again and again until its model leaves no tasks open.

    Before each run, the agents of open tasks are run. It ends at a task that waits for the user.
    The next run continues with that task, once the agent has run what it can of the calls beside
    the task.
    """
    beside = has_calls_to_run(ctx, agent.name)
    while not ctx.is_aborted:
        for call in () if beside else open_tasks(ctx, agent) or _abandoned_tasks(ctx, agent):
            task = _Task(ctx, agent, call)
            async with aclosing(task.events()) as events:
                async for event in events:
                    yield event
            if not task.is_over:
                return
        beside = False
        async with aclosing(run(ctx)) as events:
            async for event in events:
                yield event
        if not open_tasks(ctx, agent):
            return


def open_tasks(ctx: InvocationContext, agent: BaseAgent) -> list[types.FunctionCall]:
    """Return the agent's calls that gave away tasks and whose tasks are not done yet."""
    names = {each.name for each in agent.sub_agents_given_tasks}
    if not names:
        return []
    return [
        call
        for call_id, place in ctx.history.unsettled.items()
        if place.event.author == agent.name and place.event.isolation_scope == ctx.isolation_scope
        for call in place.event.get_function_calls()
        if call.id == call_id and call.id and call.name in names
    ]


def _abandoned_tasks(ctx: InvocationContext, agent: BaseAgent) -> list[types.FunctionCall]:
    """Return the tasks that the agent last gave away in an earlier invocation, if they never began.

    The process ended in between. A task that has begun waits for the user instead, whose messages
    go to its agent.
    """
    names = {each.name for each in agent.sub_agents_given_tasks}
    settled_ids: set[str | None] = set()
    for event in live_events_backwards(ctx.session.events):
        responses = event.get_function_responses()
        settled_ids.update(response.id for response in responses)
        if event.invocation_id != ctx.invocation_id:
            settled_ids.add(event.isolation_scope)
        is_own = event.author == agent.name and event.isolation_scope == ctx.isolation_scope
        if is_own and event.content and not responses:
            calls = event.get_function_calls()
            return [
                call for call in calls if call.name in names and {call.id} - settled_ids - {None}
            ]
    return []


class _Task:
    """One task, from its call to the answer."""

    def __init__(
        self, ctx: InvocationContext, caller: LlmAgentSettings, call: types.FunctionCall
    ) -> None:
        self._ctx = ctx
        self._call = call
        self._agent = next(each for each in caller.sub_agents_given_tasks if each.name == call.name)
        self.is_over = False
        """Whether the call has been answered."""

    async def events(self) -> AsyncGenerator[Event, None]:
        """Begin or continue the task; once it is done, answer the call."""
        ctx = self._context()
        finish = finish_of(ctx, self._call.id)
        if finish is None or (ctx.is_resumable and not has_ended(ctx, self._agent)):
            if self._call.id not in ctx.history.scopes:
                forget(ctx, self._agent)
            async with aclosing(settled_run(self._agent, ctx)) as events:
                async for event in events:
                    yield event
            finish = finish_of(ctx, self._call.id)
        if finish is not None:
            self.is_over = True
            yield self._answer(finish.output)

    def _context(self) -> InvocationContext:
        """Return the invocation as the agent of the task sees it."""
        name = f"{self._agent.name}@{self._call.id}"
        path = self._ctx.node_path
        return self._ctx.model_copy(
            update={
                "branch": branch_below(self._ctx.branch, name),
                "node_path": f"{path}/{name}" if path else None,
                "isolation_scope": self._call.id,
                "user_content": task_content(self._call),
            }
        )

    def _answer(self, output: Any) -> Event:
        response = types.FunctionResponse(
            id=self._call.id,
            name=self._call.name,
            response=output if isinstance(output, dict) else {"output": output},
        )
        part = types.Part(function_response=response)
        return Event(
            invocation_id=self._ctx.invocation_id,
            author=_USER,
            branch=self._ctx.branch,
            isolation_scope=self._ctx.isolation_scope,
            content=types.Content(role=_USER, parts=[part]),
            node_path=self._ctx.node_path,
        )


def task_content(call: types.FunctionCall) -> types.Content:
    """Return the task as the first message to its agent."""
    text = json.dumps(call.args or {}, ensure_ascii=False)
    return types.Content(role=_USER, parts=[types.Part(text=text)])


# Whether an agent has to stop after one of its sub-agents (adk-runtime 5.2, 11.5).


class Pause:
    """Watches one run of a sub-agent for calls that are answered later, and for open tasks.

    A resumed agent that still waits for its answer yields no events, so the history is checked,
    too.
    """

    def __init__(self, ctx: InvocationContext, agent: BaseAgent) -> None:
        self._ctx = ctx
        self._agent = agent
        self._has_pause = False

    def watch(self, event: Event) -> None:
        """Take note of an event of the run."""
        self._has_pause = self._has_pause or bool(pausing_calls(event))

    @property
    def is_needed(self) -> bool:
        """Whether the run left something to wait for."""
        if self._has_pause or any(open_tasks(self._ctx, each) for each in family(self._agent)):
            return True
        if not self._ctx.has_begun:
            return False
        return awaits_user(self._ctx, {member.name for member in family(self._agent)})


# Agents with a time limit, retries or a state schema of their own (adk-runtime 12.1, 12.5).
#
# These apply where an agent has a run of its own: at the root, after a hand-over, or when a model
# calls it. Sub-agents of a workflow agent are part of its run, so their settings are ignored.


logger = logging.getLogger(__name__)


def settled_run(
    agent: BaseAgent, ctx: InvocationContext, *, as_function: bool = False
) -> AsyncGenerator[Event, None]:
    """Run the agent within its limits and return its events.

    `as_function`: a model has called the agent like a function, so the state schema of the agent
    above does not apply.
    """
    schema = agent.state_schema
    if schema is None and not as_function and ctx.node_runs.schemas:
        schema = ctx.node_runs.schema_above(ctx.node_path)
    if schema is None and agent.timeout is None and agent.retry_config is None:
        return events_of(agent, ctx)
    is_part = not as_function and not has_place_of_its_own(ctx.node_path, agent.name)
    return events_of(agent, ctx) if is_part else _attempts(agent, ctx, schema)


async def _attempts(
    agent: BaseAgent, ctx: InvocationContext, schema: Any
) -> AsyncGenerator[Event, None]:
    """Yield the events of all attempts; raises the last attempt's error."""
    if schema is not None and ctx.node_path:
        ctx.node_runs.schemas[ctx.node_path] = schema
    retry, number = agent.retry_config, 0
    while True:
        number += 1
        attempt = _Attempt(agent, ctx, schema)
        try:
            async with aclosing(attempt.events()) as events:
                async for event in events:
                    yield event
        except Exception as error:
            if attempt.is_over:
                raise
            if ctx.is_news(error):
                yield _failure(agent, ctx, error)
            if retry is None or not retry.again(error, number):
                raise
            logger.warning("Agent %r failed; retrying: %s", agent.name, error)
            ctx.try_again(agent.name)
        else:
            return
        await asyncio.sleep(retry.delay(number))


def _failure(agent: BaseAgent, ctx: InvocationContext, error: Exception) -> Event:
    event = error_event(agent.name, ctx, error)
    event.isolation_scope = own_scope(agent, ctx)
    return event


class _Attempt:
    """One attempt of an agent."""

    def __init__(self, agent: BaseAgent, ctx: InvocationContext, schema: Any) -> None:
        self._agent = agent
        self._ctx = ctx
        self._schema = schema
        self._limit = TimeLimit(agent.timeout)
        self.is_over = False
        """Whether the agent has handed over; whatever follows is the other agent's."""

    async def events(self) -> AsyncGenerator[Event, None]:
        """Run the agent.

        Raises:
            NodeTimeoutError: its time is up.
            StateSchemaError: an event changes the state in a way that the schema does not allow.
        """
        async with aclosing(events_of(self._agent, self._ctx)) as events:
            while (event := await self._next(events)) is not None:
                self._look_at(event)
                yield event

    async def _next(self, events: AsyncGenerator[Event, None]) -> Event | None:
        # Each step is limited separately, because between steps the caller, in whose task this
        # runs, uses the time.
        remaining = self._limit.remaining
        if remaining is None:
            return await anext(events, None)
        if remaining <= 0:
            raise self._late()
        try:
            async with self._limit:
                return await anext(events, None)
        except TimeoutError as error:
            if not self._limit.expired:
                raise  # the agent's own TimeoutError
            raise self._late() from error

    def _late(self) -> NodeTimeoutError:
        return NodeTimeoutError(node_name=self._agent.name, timeout=self._agent.timeout or 0)

    def _look_at(self, event: Event) -> None:
        if event.node_info.path != (self._ctx.node_path or ""):
            return  # of an agent that this one has called
        if self._schema is not None and not self.is_over:
            for key, value in event.actions.state_delta.items():
                check_entry(self._schema, key, value)
        if self._agent.sees_transfers_through and transfers(self._agent, event):
            self.is_over, self._limit.remaining = True, None
