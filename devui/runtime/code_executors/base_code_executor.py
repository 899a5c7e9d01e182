"""`BaseCodeExecutor`: runs the code that a model writes (adk-runtime 10.5)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from pydantic import ConfigDict, Field

from devui.runtime.mistakes import Spelt

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.code_executors.code_execution_utils import (
        CodeExecutionInput,
        CodeExecutionResult,
    )


class BaseCodeExecutor(Spelt, ABC):
    """Finds code in an agent's answers, runs it, and lets the model read the result."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    optimize_data_file: bool = False
    """Whether CSV files in the user's messages are looked at by code (pandas) before the model
    reads them: it reads what was found, and its code finds the files by name."""
    stateful: bool = False
    """Whether the executions of a session go on from each other."""
    error_retry_attempts: int = 2
    """After so many failures in a row in one invocation, code is no longer run."""
    code_block_delimiters: list[tuple[str, str]] = Field(
        default=[("```tool_code\n", "\n```"), ("```python\n", "\n```")]
    )
    """Between which marks code stands in a text; the first pair is used to show it."""
    execution_result_delimiters: tuple[str, str] = ("```tool_output\n", "\n```")
    """Between which marks the model reads the result."""
    timeout_seconds: int | None = None
    """Seconds that one execution may take; None sets no limit."""

    @abstractmethod
    def execute_code(
        self, invocation_context: InvocationContext, code_execution_input: CodeExecutionInput
    ) -> CodeExecutionResult:
        """Run the code. Called in a thread, so it may take its time; may also be async."""
