"""`BasePlanner`: asks a model for a plan, and reads it (adk-runtime 10.5)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.context import Context
    from devui.runtime.agents.readonly_context import ReadonlyContext
    from devui.runtime.models.llm_request import LlmRequest


class BasePlanner(ABC):
    """Changes what an agent's model is told, and what is made of its answer."""

    @abstractmethod
    def build_planning_instruction(
        self, readonly_context: ReadonlyContext, llm_request: LlmRequest
    ) -> str | None:
        """What to add to the system instruction; None adds nothing. The request is read only."""

    @abstractmethod
    def process_planning_response(
        self, callback_context: Context, response_parts: list[types.Part]
    ) -> list[types.Part] | None:
        """The parts to go on with in place of the model's; None or none leaves those.

        Also called for each fragment of a streamed answer. The parts given are read only.
        """
