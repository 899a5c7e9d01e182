"""`BuiltInPlanner`: lets the model think by itself (adk-runtime 10.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devui.runtime.planners.base_planner import BasePlanner

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.context import Context
    from devui.runtime.agents.readonly_context import ReadonlyContext
    from devui.runtime.models.llm_request import LlmRequest


class BuiltInPlanner(BasePlanner):
    """Turns on the thinking of models that have it; others refuse the request."""

    def __init__(self, *, thinking_config: types.ThinkingConfig) -> None:
        """Think as `thinking_config` says; it goes before that of the agent's own settings."""
        self.thinking_config = thinking_config

    def apply_thinking_config(self, llm_request: LlmRequest) -> None:
        """Put the thinking settings into a request."""
        llm_request.config.thinking_config = self.thinking_config

    def build_planning_instruction(
        self, readonly_context: ReadonlyContext, llm_request: LlmRequest
    ) -> str | None:
        """None: the model needs no instruction to think."""
        return None

    def process_planning_response(
        self, callback_context: Context, response_parts: list[types.Part]
    ) -> list[types.Part] | None:
        """None: the model marks its thoughts itself."""
        return None
