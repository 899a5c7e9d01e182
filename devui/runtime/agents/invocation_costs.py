"""What an invocation has cost so far (adk-runtime 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devui.runtime.agents.run_config import RunConfig


class LlmCallsLimitExceededError(Exception):
    """The invocation made more model calls than `RunConfig.max_llm_calls` allows."""


@dataclass(slots=True)
class InvocationCosts:
    """Counts the model calls of one invocation; google-adk has the member under this name."""

    _number_of_llm_calls: int = 0

    def count(self, run_config: RunConfig | None, invocation_id: str, hand_overs: int) -> None:
        """Count a model call; raises LlmCallsLimitExceededError beyond the run's limit."""
        self._number_of_llm_calls += 1
        limit = run_config.max_llm_calls if run_config else 0
        if 0 < limit < self._number_of_llm_calls:
            circle = (
                f" {hand_overs} times in a row an agent has handed over to another: if they"
                " go in a circle, say in their instructions who has the last word."
            )
            raise LlmCallsLimitExceededError(
                f"Invocation {invocation_id} would make more than {limit} model calls; "
                f"raise RunConfig.max_llm_calls if that is meant.{circle * (hand_overs > 1)}"
            )
