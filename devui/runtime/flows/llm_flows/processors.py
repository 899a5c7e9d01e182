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


# Base classes of custom steps in a flow (LlmAgent seed; adk-runtime 7.2).


class BaseLlmRequestProcessor(ABC):
    """A step before the model call; any object with the same `name` and `run_async` works."""

    name: str = ""
    """The name by which the flow's methods find the step; they can't without one."""

    @abstractmethod
    def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Change the request and yield events; each is committed before the step continues."""


class BaseLlmResponseProcessor(ABC):
    """A step between a model's response and its event."""

    name: str = ""
    """The name, for messages."""

    @abstractmethod
    def run_async(
        self, invocation_context: InvocationContext, llm_response: LlmResponse
    ) -> AsyncGenerator[Event, None]:
        """Change the response, and yield events that go before the response's own."""


Prepare = Callable[["InvocationContext", "LlmRequest"], Awaitable[None]]
Run = Callable[["InvocationContext", "LlmRequest"], AsyncGenerator["Event", None]]
Process = Callable[["InvocationContext", "LlmResponse"], AsyncGenerator["Event", None]]


def agent_of(ctx: InvocationContext) -> LlmAgentSettings:
    """Return the agent whose request is prepared; only agents with a model have flows."""
    # Not `cast`, which costs a call: this runs many times per step.
    return ctx.agent  # type: ignore[return-value]  # a flow belongs to an LlmAgent


@dataclass(frozen=True, slots=True)
class RequestProcessor:
    """One step. Most only `prepare` the request; a step that yields events has a `run`."""

    name: str
    prepare: Prepare | None = None
    """Changes the request."""
    run: Run | None = None
    """Changes the request and yields events; each is committed before the step continues."""
    applies: Callable[[InvocationContext], bool] | None = None
    """Returns whether the step has anything to do, which most requests don't need; None: always."""

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Run the whole step; for custom steps that wrap it."""
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
    """Returns whether the agent needs the step; most don't. Called for each fragment, too."""
    run: Process
    """Changes the response, and yields events that go before the response's own."""

    async def run_async(
        self, invocation_context: InvocationContext, llm_response: LlmResponse
    ) -> AsyncGenerator[Event, None]:
        """Run the whole step; for custom steps that wrap it."""
        if self.applies(agent_of(invocation_context)):
            async with aclosing(self.run(invocation_context, llm_response)) as events:
                async for event in events:
                    yield event


# Access to the steps of a flow by the names that ADK's flows use (LlmAgent seed, 7.2).


RequestStep = RequestProcessor | BaseLlmRequestProcessor
ResponseStep = ResponseProcessor | BaseLlmResponseProcessor


class Extensible:
    """A flow whose lists of steps can be changed before it runs (adk-runtime 7.2).

    The lists are plain lists; the methods find steps in them by name.
    """

    request_processors: list[RequestStep]
    tool_request_processors: list[RequestStep]
    """Run after `request_processors`; only here are the agent's own tools added to the request."""
    response_processors: list[ResponseStep]

    def get_request_processor(self, name: str) -> RequestStep:
        """Return the step with that name; ValueError unless exactly one step has it."""
        steps, index = self._locate_request_processor(name)
        return steps[index]

    def insert_request_processor_before(self, name: str, processor: RequestStep) -> None:
        """Insert a step before another; ValueError if that one is unknown or the new name taken."""
        steps, index = self._locate_request_processor(name)
        self._reject_duplicate_name(processor)
        steps.insert(index, processor)

    def insert_request_processor_after(self, name: str, processor: RequestStep) -> None:
        """Insert a step after another; ValueError if that one is unknown or the new name taken."""
        steps, index = self._locate_request_processor(name)
        self._reject_duplicate_name(processor)
        steps.insert(index + 1, processor)

    def replace_request_processor(self, name: str, processor: RequestStep) -> RequestStep:
        """Replace a step and return the old one; raises ValueError like the insertions."""
        steps, index = self._locate_request_processor(name)
        if processor.name != name:
            self._reject_duplicate_name(processor)
        old, steps[index] = steps[index], processor
        return old

    def remove_request_processor(self, name: str) -> RequestStep:
        """Remove a step and return it; ValueError unless exactly one step has that name."""
        steps, index = self._locate_request_processor(name)
        return steps.pop(index)

    def _iter_request_processors(self) -> tuple[RequestStep, ...]:
        """Return all steps before the model call, in order."""
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
        many = "Several request processors are" if matches else "No request processor is"
        names = _names(self._iter_request_processors())
        raise ValueError(f"{many} named {name!r}; the names are {names}.")

    def _reject_duplicate_name(self, processor: RequestStep) -> None:
        if processor.name and processor.name in _names(self._iter_request_processors()):
            raise ValueError(
                f"A request processor named {processor.name!r} already exists; choose another name,"
                " or replace that one."
            )


def _names(steps: Iterable[RequestStep]) -> list[str]:
    return [step.name for step in steps if step.name]


def as_request_processor(step: BaseLlmRequestProcessor) -> RequestProcessor:
    """Wrap a custom step, which gets its own copies of the contents it takes from the request."""
    return RequestProcessor(step.name, run=_with_own_contents(step.name, step.run_async))


def as_response_processor(step: BaseLlmResponseProcessor) -> ResponseProcessor:
    """Wrap a custom step."""
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
