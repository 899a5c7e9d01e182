"""Steps of one's own in a flow, by the names that ADK's flows have (LlmAgent seed, 7.2)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import TYPE_CHECKING

from devui.runtime.flows.llm_flows._base_llm_processor import (
    BaseLlmRequestProcessor,
    BaseLlmResponseProcessor,
)
from devui.runtime.flows.llm_flows.processors import RequestProcessor, ResponseProcessor, Run
from devui.runtime.models.own_contents import own_contents

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest

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
        found = [
            (steps, index)
            for steps in (self.request_processors, self.tool_request_processors)
            for index, step in enumerate(steps)
            if name and step.name == name
        ]
        if len(found) == 1:
            return found[0]
        many = "are several request processors" if found else "is no request processor"
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
    return ResponseProcessor(step.name, wanted=lambda _: True, run=step.run_async)


def _with_own_contents(name: str, run: Run) -> Run:

    async def run_async(
        ctx: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        with own_contents(llm_request, by=f"the step {name or run!r}"):
            async with aclosing(run(ctx, llm_request)) as events:
                async for event in events:
                    yield event

    return run_async
