"""The steps around a model call, each with a name (adk-runtime 7.2)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.llm_agent import LlmAgent
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.models.llm_response import LlmResponse

Prepare = Callable[["InvocationContext", "LlmRequest"], Awaitable[None]]
Run = Callable[["InvocationContext", "LlmRequest"], AsyncGenerator["Event", None]]
Process = Callable[["InvocationContext", "LlmResponse"], AsyncGenerator["Event", None]]


def agent_of(ctx: InvocationContext) -> LlmAgent:
    """The agent whose request is prepared; only agents with a model have flows."""
    # Not `cast`, which is a call: this is asked many times at each step.
    return ctx.agent  # type: ignore[return-value]  # a flow belongs to an LlmAgent


@dataclass(frozen=True, slots=True)
class RequestProcessor:
    """One step. Most only `prepare` the request; one that yields events is a `run`."""

    name: str
    prepare: Prepare | None = None
    """Changes the request."""
    run: Run | None = None
    """Changes the request and yields events, each committed before it goes on."""
    wanted: Callable[[InvocationContext], bool] | None = None
    """Whether there is anything to do, which most requests have not; None: always."""

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """All of the step, for a step of one's own that is put around it."""
        if self.wanted is not None and not self.wanted(invocation_context):
            return
        if self.prepare is not None:
            await self.prepare(invocation_context, llm_request)
        if self.run is not None:
            async with aclosing(self.run(invocation_context, llm_request)) as events:
                async for event in events:
                    yield event


@dataclass(frozen=True, slots=True)
class ResponseProcessor:
    """One step between a model's response and its event."""

    name: str
    wanted: Callable[[LlmAgent], bool]
    """Whether the agent has use for it, which most have not; asked for each fragment, too."""
    run: Process
    """Changes the response and yields events that go before its own."""

    async def run_async(
        self, invocation_context: InvocationContext, llm_response: LlmResponse
    ) -> AsyncGenerator[Event, None]:
        """All of the step, for a step of one's own that is put around it."""
        if self.wanted(agent_of(invocation_context)):
            async with aclosing(self.run(invocation_context, llm_response)) as events:
                async for event in events:
                    yield event
