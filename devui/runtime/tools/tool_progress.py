"""What a tool tells while it runs, as events of the session (adk-runtime 8.2)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from google.genai import types
from pydantic import BaseModel

from devui.runtime.agents.branches import branch_below
from devui.runtime.agents.context import Context
from devui.runtime.agents.error_events import error_event
from devui.runtime.calling import stepped_in_threads
from devui.runtime.events.event import Event
from devui.runtime.events.node_info import NodeInfo

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext

_OWN = ("state_delta", "artifact_delta")
"""What goes with the tool's own events; everything else is up to the function response."""

Items = AsyncGenerator[Any, None] | Generator[Any, None, None]


class ToolProgress:
    """Commits what a generator yields; the generator goes on when that is done.

    A Content or an Event is told as it is, by the tool, on a branch of the call: the user sees
    it, models do not. Any other value but None is the result, of which there may be one. What
    the generator changes in the state goes with its next event.
    """

    def __init__(self, name: str, tool_context: Context) -> None:
        """Follow the call that `tool_context` belongs to, of the tool of that name."""
        self._name = name
        self._outer = tool_context
        self._ctx = _below(tool_context.get_invocation_context(), name, tool_context)
        self.context = Context(
            self._ctx,
            function_call_id=tool_context.function_call_id,
            tool_confirmation=tool_context.tool_confirmation,
        )
        """What the generator gets for a context: one with the call's branch."""
        self._result: Any = None

    async def follow(self, items: Items) -> Any:
        """Commit all that the generator yields; returns the result, None without one.

        Raises:
            ValueError: it gave several results.
            Exception: what it raised, of which an event tells.
        """
        try:
            steps = items if isinstance(items, AsyncGenerator) else stepped_in_threads(items)
            async with aclosing(steps) as yielded:
                async for item in yielded:
                    await self._tell(self._event(item))
            await self._tell(self._event(None))
        except Exception as error:
            await self._tell(error_event(self._name, self._ctx, error))
            raise
        self._pass_on_signals()
        return self._result

    def _event(self, item: Any) -> Event | None:
        """The event of what was yielded; None if there is nothing to tell."""
        actions = self.context.actions
        changed = any(getattr(actions, name) for name in _OWN)
        if item is None and not changed:
            return None
        event = item if isinstance(item, Event) else _event_of(item)
        event.invocation_id = self._ctx.invocation_id
        event.author = self._name
        event.branch = self._ctx.branch
        event.node_info = NodeInfo(path=self._ctx.node_path or "")
        if event.output is not None:
            self._conclude(event)
        if not event.partial:
            for name in _OWN:
                getattr(event.actions, name).update(getattr(actions, name))
                getattr(actions, name).clear()
        return event

    def _conclude(self, event: Event) -> None:
        if self._result is not None:
            raise ValueError(
                f"Tool {self._name!r} gave two results, {self._result!r:.100} and"
                f" {event.output!r:.100}. A generator yields one value; yield Events or Contents"
                " to tell of the progress."
            )
        self._result = event.output
        if path := self._ctx.node_path:
            event.node_info.output_for = [path]

    async def _tell(self, event: Event | None) -> None:
        if event is None:
            return
        emit = self._outer.get_invocation_context().emit
        if emit is None:
            raise RuntimeError(f"Tool {self._name!r} yields: it can only be called by a model.")
        await emit(event)

    def _pass_on_signals(self) -> None:
        """Let the function response say where control goes, as any tool's does."""
        for name, value in self.context.actions:
            if value and name not in _OWN:
                setattr(self._outer.actions, name, value)


def _below(ctx: InvocationContext, name: str, tool_context: Context) -> InvocationContext:
    """The invocation as the tool's events see it: on a branch and in a place of the call."""
    segment = f"{name}@{tool_context.function_call_id}"
    branch = branch_below(ctx.branch, segment)
    path = f"{ctx.node_path}/{segment}" if ctx.node_path else None
    return ctx.model_copy(update={"branch": branch, "node_path": path})


def _event_of(item: Any) -> Event:
    if item is None:
        return Event()
    if isinstance(item, types.Content):
        return Event(content=item)
    return Event(output=item.model_dump() if isinstance(item, BaseModel) else item)
