"""The turn of an agent with a model, and what is left of it in a resumed invocation.

Source: resume seed; adk-runtime 11.4.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

from devui.runtime.agents.agent_progress import has_started
from devui.runtime.agents.hand_over import hand_over
from devui.runtime.agents.invocation_events import own_events
from devui.runtime.agents.open_calls import (
    awaits_user,
    lost_calls,
    lost_code,
    pausing_calls,
)
from devui.runtime.agents.pause import Pause
from devui.runtime.agents.task_scopes import awaits_words
from devui.runtime.agents.transfers import target_of, transfers

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.llm_agent import LlmAgent
    from devui.runtime.events.event import Event


class Left(Enum):
    """What is left to do for a resumed agent."""

    TURN = auto()
    """To begin or to go on with its turn."""
    TRANSFER = auto()
    """To see the agent through that it handed over to."""
    WAIT = auto()
    """Nothing, before the user has answered."""
    NOTHING = auto()
    """Nothing at all: only the record of its end is missing."""


def what_is_left(agent: LlmAgent, ctx: InvocationContext) -> tuple[Left, str]:
    """What the agent has yet to do, and the name of the agent it handed over to, or ''."""
    if not has_started(ctx, agent):
        return (Left.WAIT if _has_yet_to_hear(agent, ctx) else Left.TURN), ""
    if ctx.agent_state_key(agent.name) in ctx.callbacks_left:
        return Left.NOTHING, ""
    said = _said(ctx)
    own = [event for event in said if event.author == agent.name]
    if agent.mode == "task" and not awaits_words(ctx, agent):
        return Left.NOTHING, ""
    if own and (target := own[-1].actions.transfer_to_agent):
        return Left.TRANSFER, target
    if not said or not _is_over(said[-1], agent.name) or lost_calls(ctx, agent.name):
        return Left.TURN, ""
    if agent.code_executor is not None and lost_code(ctx, agent.name) is not None:
        return Left.TURN, ""
    waits = awaits_words(ctx, agent) or awaits_user(ctx, {agent.name})
    return (Left.WAIT if waits else Left.NOTHING), ""


def _has_yet_to_hear(agent: LlmAgent, ctx: InvocationContext) -> bool:
    """Whether it has a task, and nobody has told it more since it spoke, as no checkpoint tells."""
    if agent.mode != "task" or not ctx.has_begun:
        return False
    said = _said(ctx)
    return bool(said) and _is_over(said[-1], agent.name) and not lost_calls(ctx, agent.name)


def _said(ctx: InvocationContext) -> list[Event]:
    """What was said so far; an answer that was only repeated says nothing."""
    said = [event for event in own_events(ctx) if event.content or event.error_code]
    return [event for event in said if not ctx.is_ignored(event)]


def _is_over(last: Event, agent: str) -> bool:
    """Whether the agent had the last word."""
    return last.author == agent and last.is_final_response() and not last.error_code


@dataclass(slots=True)
class Turn:
    """One turn: whether it has to wait for someone, and whom it is handed over to."""

    ctx: InvocationContext
    target: BaseAgent | None = None
    _waits: bool = field(default=False, init=False)

    def watch(self, event: Event) -> None:
        """Take note of an event of the turn."""
        self._waits = self._waits or bool(pausing_calls(event))
        agent = self.ctx.agent
        self.target = None
        if agent is not None and transfers(agent, event):
            self.ctx.see_through(event)
            self.target = target_of(agent, event.actions.transfer_to_agent)

    async def hand_over(self, *, anew: bool) -> AsyncGenerator[Event, None]:
        """Run the target; one that a resumed invocation has seen to its end is not run again."""
        target, source = self.target, self.ctx.agent
        if target is None or source is None:
            return
        pause = Pause(self.ctx, target)
        async with aclosing(hand_over(self.ctx, source, target, anew=anew)) as events:
            async for event in events:
                yield event
                pause.watch(event)
        self._waits = self._waits or pause.needed

    @property
    def _has_tasks(self) -> bool:
        """Whether a task may stand between a question and the end of the turn."""
        return self.ctx.agent is not None and bool(self.ctx.agent.sub_agents_given_tasks)

    def paused(self, agent: str) -> bool:
        """Whether the agent of that name, or its target, waits for an answer."""
        return self._waits or (
            self.target is None
            and (self.ctx.begun_at is not None or self._has_tasks)
            and awaits_user(self.ctx, {agent})
        )
