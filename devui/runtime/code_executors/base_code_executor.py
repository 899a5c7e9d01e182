"""`BaseCodeExecutor`: runs the code that a model writes (adk-runtime 10.5)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from pydantic import ConfigDict, Field

from devui.runtime.mistakes import SpellCheckedModel

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.code_executors.code_execution_utils import (
        CodeExecutionInput,
        CodeExecutionResult,
    )


class BaseCodeExecutor(SpellCheckedModel, ABC):
    """Finds code in an agent's answers, runs it, and gives the model the result."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    optimize_data_file: bool = False
    """Whether code (pandas) examines CSV files in the user's messages before the model reads them:
    the model gets what was found, and its code finds the files by name."""
    stateful: bool = False
    """Whether each execution of a session continues from the one before."""
    error_retry_attempts: int = 2
    """How many failures in a row, in one invocation, until code is no longer run."""
    code_block_delimiters: list[tuple[str, str]] = Field(
        default=[("```tool_code\n", "\n```"), ("```python\n", "\n```")]
    )
    """The marks around code in a text; the first pair is used to show code."""
    execution_result_delimiters: tuple[str, str] = ("```tool_output\n", "\n```")
    """The marks around the result that the model reads."""
    timeout_seconds: int | None = None
    """Seconds that one execution may take; None sets no limit."""

    @abstractmethod
    def execute_code(
        self, invocation_context: InvocationContext, code_execution_input: CodeExecutionInput
    ) -> CodeExecutionResult:
        """Run the code. This is called in a thread, so it may block; it may also be async."""
