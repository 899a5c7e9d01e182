"""What steps of one's own in a flow are made of (LlmAgent seed; adk-runtime 7.2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.models.llm_response import LlmResponse


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
