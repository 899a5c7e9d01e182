"""The steps around a model call, each with a name (adk-runtime 7.2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from devui.runtime.models.llm_request import own_contents

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.llm_agent_settings import LlmAgentSettings
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.models.llm_response import LlmResponse


# What steps of one's own in a flow are made of (LlmAgent seed; adk-runtime 7.2).


class BaseLlmRequestProcessor(ABC):
    """A step before the model is asked; any object with a `run_async` like this one will do."""

    name: str = ""
    """What other steps find it by; without one, none does."""

    @abstractmethod
    def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Change the request and yield events, each committed before it goes on."""


class BaseLlmResponseProcessor(ABC):
    """A step between a model's response and its event."""

    name: str = ""
    """What it is called."""

    @abstractmethod
    def run_async(
        self, invocation_context: InvocationContext, llm_response: LlmResponse
    ) -> AsyncGenerator[Event, None]:
        """Change the response and yield events that go before its own."""


Prepare = Callable[["InvocationContext", "LlmRequest"], Awaitable[None]]
Run = Callable[["InvocationContext", "LlmRequest"], AsyncGenerator["Event", None]]
Process = Callable[["InvocationContext", "LlmResponse"], AsyncGenerator["Event", None]]


def agent_of(ctx: InvocationContext) -> LlmAgentSettings:
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
    applies: Callable[[InvocationContext], bool] | None = None
    """Whether there is anything to do, which most requests have not; None: always."""

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """All of the step, for a step of one's own that is put around it."""
        if self.applies is not None and not self.applies(invocation_context):
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
    applies: Callable[[LlmAgentSettings], bool]
    """Whether the agent has use for it, which most have not; asked for each fragment, too."""
    run: Process
    """Changes the response and yields events that go before its own."""

    async def run_async(
        self, invocation_context: InvocationContext, llm_response: LlmResponse
    ) -> AsyncGenerator[Event, None]:
        """All of the step, for a step of one's own that is put around it."""
        if self.applies(agent_of(invocation_context)):
            async with aclosing(self.run(invocation_context, llm_response)) as events:
                async for event in events:
                    yield event


# Steps of one's own in a flow, by the names that ADK's flows have (LlmAgent seed, 7.2).


RequestStep = RequestProcessor | BaseLlmRequestProcessor
ResponseStep = ResponseProcessor | BaseLlmResponseProcessor


class Extensible:
    """A flow whose lists of steps can be changed before it runs (adk-runtime 7.2).

    They are plain lists; the methods do the same by the names of steps.
    """

    request_processors: list[RequestStep]
    tool_request_processors: list[RequestStep]
    """What comes after those: only here `llm_request.tools_dict` is filled."""
    response_processors: list[ResponseStep]

    def get_request_processor(self, name: str) -> RequestStep:
        """The step of that name; ValueError names those there are, and if there are several."""
        steps, index = self._locate_request_processor(name)
        return steps[index]

    def insert_request_processor_before(self, name: str, processor: RequestStep) -> None:
        """Add a step before another; ValueError if that is unknown or the new name is taken."""
        steps, index = self._locate_request_processor(name)
        self._reject_duplicate_name(processor)
        steps.insert(index, processor)

    def insert_request_processor_after(self, name: str, processor: RequestStep) -> None:
        """Add a step after another; ValueError if that is unknown or the new name is taken."""
        steps, index = self._locate_request_processor(name)
        self._reject_duplicate_name(processor)
        steps.insert(index + 1, processor)

    def replace_request_processor(self, name: str, processor: RequestStep) -> RequestStep:
        """Put a step in the place of another, which is returned; ValueError as above."""
        steps, index = self._locate_request_processor(name)
        if processor.name != name:
            self._reject_duplicate_name(processor)
        old, steps[index] = steps[index], processor
        return old

    def remove_request_processor(self, name: str) -> RequestStep:
        """Leave a step out; it is returned. ValueError if there is none of that name."""
        steps, index = self._locate_request_processor(name)
        return steps.pop(index)

    def _iter_request_processors(self) -> tuple[RequestStep, ...]:
        """All steps before the model is asked, in their order."""
        return (*self.request_processors, *self.tool_request_processors)

    def _locate_request_processor(self, name: str) -> tuple[list[RequestStep], int]:
        matches = [
            (steps, index)
            for steps in (self.request_processors, self.tool_request_processors)
            for index, step in enumerate(steps)
            if name and step.name == name
        ]
        if len(matches) == 1:
            return matches[0]
        many = "are several request processors" if matches else "is no request processor"
        names = _names(self._iter_request_processors())
        raise ValueError(f"There {many} {name!r}; there are {names}.")

    def _reject_duplicate_name(self, processor: RequestStep) -> None:
        if processor.name and processor.name in _names(self._iter_request_processors()):
            raise ValueError(
                f"There is a request processor {processor.name!r} already; name yours otherwise,"
                " or replace that one."
            )


def _names(steps: Iterable[RequestStep]) -> list[str]:
    return [step.name for step in steps if step.name]


def as_request_processor(step: BaseLlmRequestProcessor) -> RequestProcessor:
    """A step of others as one of ours: what it takes out of the contents is its own."""
    return RequestProcessor(step.name, run=_with_own_contents(step.name, step.run_async))


def as_response_processor(step: BaseLlmResponseProcessor) -> ResponseProcessor:
    """A step of others as one of ours."""
    return ResponseProcessor(step.name, applies=lambda _: True, run=step.run_async)


def _with_own_contents(name: str, run: Run) -> Run:

    async def run_async(
        ctx: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        with own_contents(llm_request, by=f"the step {name or run!r}"):
            async with aclosing(run(ctx, llm_request)) as events:
                async for event in events:
                    yield event

    return run_async
