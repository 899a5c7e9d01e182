"""Steps of one's own in a flow, by the names that ADK's flows have (LlmAgent seed, 7.2)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Protocol

from devui.runtime.flows.llm_flows.processors import Processors, RequestProcessor

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest


class OwnProcessor(Protocol):
    """A step as ADK's flows take it: any object with a name that changes the request."""

    @property
    def name(self) -> str:
        """What other steps find it by."""
        ...

    def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Change the request and yield events, each committed before it goes on."""
        ...


class Extensible:
    """A flow whose list of steps can be changed before it runs (adk-runtime 7.2)."""

    request_processors: Processors[RequestProcessor]

    def get_request_processor(self, name: str) -> RequestProcessor:
        """The step of that name; ValueError names those there are."""
        self._check_known(name)
        return self.request_processors.get(name)

    def insert_request_processor_before(
        self, name: str, processor: RequestProcessor | OwnProcessor
    ) -> None:
        """Add a step before another; ValueError if that is unknown or the new name is taken."""
        self._check_known(name)
        self.request_processors.insert_before(name, self._new(processor))

    def insert_request_processor_after(
        self, name: str, processor: RequestProcessor | OwnProcessor
    ) -> None:
        """Add a step after another; ValueError if that is unknown or the new name is taken."""
        self._check_known(name)
        self.request_processors.insert_after(name, self._new(processor))

    def replace_request_processor(
        self, name: str, processor: RequestProcessor | OwnProcessor
    ) -> RequestProcessor:
        """Put a step in the place of another, which is returned; ValueError as above."""
        old = self.get_request_processor(name)
        self.request_processors.replace(name, self._new(processor, instead_of=name))
        return old

    def remove_request_processor(self, name: str) -> RequestProcessor:
        """Leave a step out; it is returned. ValueError if there is none of that name."""
        old = self.get_request_processor(name)
        self.request_processors.remove(name)
        return old

    def _check_known(self, name: str) -> None:
        names = self.request_processors.names
        if name not in names:
            raise ValueError(f"There is no request processor {name!r}; there are {names}.")

    def _new(
        self, processor: RequestProcessor | OwnProcessor, instead_of: str | None = None
    ) -> RequestProcessor:
        if processor.name != instead_of and processor.name in self.request_processors.names:
            raise ValueError(
                f"There is a request processor {processor.name!r} already; name yours otherwise,"
                " or replace that one."
            )
        if isinstance(processor, RequestProcessor):
            return processor
        return RequestProcessor(processor.name, run=processor.run_async)
