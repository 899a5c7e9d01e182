"""Agents with a time limit, retries or a state schema of their own (adk-runtime 12.1, 12.5).

They hold where an agent is run for itself: at the root, handed over to, or called by a model. The
agents that a workflow agent is made of are part of its run, and theirs do not count.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from devui.runtime.agents.agent_events import events_of
from devui.runtime.agents.error_events import error_event
from devui.runtime.agents.node_paths import has_place_of_its_own
from devui.runtime.agents.task_scopes import own_scope
from devui.runtime.agents.transfers import transfers
from devui.runtime.sessions.state import check_entry
from devui.runtime.time_limits import TimeLimit
from devui.runtime.workflow.errors import NodeTimeoutError

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event

logger = logging.getLogger(__name__)


def settled_run(
    agent: BaseAgent, ctx: InvocationContext, *, called: bool = False
) -> AsyncGenerator[Event, None]:
    """The agent's events, within its limits.

    `called`: a model has called the agent like a function; the schema of the agent above is none
    of its business.
    """
    schema = agent.state_schema
    if schema is None and not called and ctx.node_runs.schemas:
        schema = ctx.node_runs.schema_above(ctx.node_path)
    if schema is None and agent.timeout is None and agent.retry_config is None:
        return events_of(agent, ctx)
    is_part = not called and not has_place_of_its_own(ctx.node_path, agent.name)
    return events_of(agent, ctx) if is_part else _attempts(agent, ctx, schema)


async def _attempts(
    agent: BaseAgent, ctx: InvocationContext, schema: Any
) -> AsyncGenerator[Event, None]:
    """The events of all attempts; raises what the last one raised."""
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
            logger.warning("Agent %r failed and is tried again: %s", agent.name, error)
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
        """Whether the agent has handed over: what comes then is the other agent's."""

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
        # Limited step by step: between the steps it is the caller who takes the time, in whose task
        # this is run.
        left = self._limit.left
        if left is None:
            return await anext(events, None)
        if left <= 0:
            raise self._late()
        try:
            async with self._limit:
                return await anext(events, None)
        except TimeoutError as error:
            if not self._limit.expired:
                raise  # the agent's own
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
            self.is_over, self._limit.left = True, None
