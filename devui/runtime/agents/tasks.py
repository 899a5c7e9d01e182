"""Tasks that the model of an agent gives to agents below it (adk-runtime 12.8).

A task is a function call that stays open while its agent works, over several messages of the
user if need be. Its events have the id of the call as their scope, by which the agent sees them
and nothing else of the conversation. How far a task is, and which are open, stands in the history
alone, so nothing else needs to be restored.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.agents.agent_progress import forget, has_ended
from devui.runtime.agents.branches import branch_below
from devui.runtime.agents.open_calls import has_calls_to_run
from devui.runtime.agents.settled_runs import settled_run
from devui.runtime.agents.task_scopes import finish_of
from devui.runtime.events.event import Event

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.llm_agent import LlmAgent

_USER = "user"

Run = Callable[["InvocationContext"], AsyncGenerator[Event, None]]


async def run_with_tasks(
    agent: LlmAgent, ctx: InvocationContext, run: Run
) -> AsyncGenerator[Event, None]:
    """`run` the agent, and each time that its model gives tasks away, their agents first.

    It ends before a task that waits for the user; the next run goes on with that task, when the
    agent has done what it can about the calls beside the task.
    """
    beside = has_calls_to_run(ctx, agent.name)
    while not ctx.is_aborted:
        for call in () if beside else open_tasks(ctx, agent):
            task = _Task(ctx, agent, call)
            async with aclosing(task.events()) as events:
                async for event in events:
                    yield event
            if not task.done:
                return
        beside = False
        async with aclosing(run(ctx)) as events:
            async for event in events:
                yield event
        if not open_tasks(ctx, agent):
            return


def open_tasks(ctx: InvocationContext, agent: BaseAgent) -> list[types.FunctionCall]:
    """The calls by which the agent has given away tasks that are not done yet."""
    names = {each.name for each in agent.sub_agents_given_tasks}
    if not names:
        return []
    return [
        call
        for call_id, made in ctx.history.unsettled.items()
        if made.event.author == agent.name and made.event.isolation_scope == ctx.isolation_scope
        for call in made.event.get_function_calls()
        if call.id == call_id and call.id and call.name in names
    ]


class _Task:
    """One task, from its call to the answer."""

    def __init__(self, ctx: InvocationContext, caller: LlmAgent, call: types.FunctionCall) -> None:
        self._ctx = ctx
        self._call = call
        self._agent = next(each for each in caller.sub_agents_given_tasks if each.name == call.name)
        self.done = False
        """Whether the call has been answered."""

    async def events(self) -> AsyncGenerator[Event, None]:
        """Begin the task or go on with it; if it gets done, answer the call."""
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
            self.done = True
            yield self._answer(finish.output)

    def _context(self) -> InvocationContext:
        """The invocation as the agent of the task sees it."""
        name = f"{self._agent.name}@{self._call.id}"
        path = self._ctx.node_path
        return self._ctx.model_copy(
            update={
                "branch": branch_below(self._ctx.branch, name),
                "node_path": f"{path}/{name}" if path else None,
                "isolation_scope": self._call.id,
                "user_content": asked(self._call),
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


def asked(call: types.FunctionCall) -> types.Content:
    """The task as the first thing that its agent is told."""
    text = json.dumps(call.args or {}, ensure_ascii=False)
    return types.Content(role=_USER, parts=[types.Part(text=text)])
