"""`BuiltInCodeExecutor`: enables code execution inside Gemini models (adk-runtime 10.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.genai import types

from devui.runtime.code_executors.base_code_executor import BaseCodeExecutor
from devui.runtime.utils.model_name_utils import takes_server_tools

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.code_executors.code_execution_utils import (
        CodeExecutionInput,
        CodeExecutionResult,
    )
    from devui.runtime.models.llm_request import LlmRequest


class BuiltInCodeExecutor(BaseCodeExecutor):
    """Enables the model's built-in code execution; generated images become artifacts."""

    def execute_code(
        self, invocation_context: InvocationContext, code_execution_input: CodeExecutionInput
    ) -> CodeExecutionResult:
        """Raise NotImplementedError; never called, since the model runs its code itself."""
        raise NotImplementedError("The model runs its code itself; there is nothing to run here.")

    def process_llm_request(self, llm_request: LlmRequest) -> None:
        """Enable code execution. Raises ValueError for models other than Gemini."""
        if not takes_server_tools(llm_request.model):
            raise ValueError(
                "BuiltInCodeExecutor only works with Gemini models, and"
                f" {llm_request.model!r} is not one. Use a Gemini model or another code executor."
            )
        tool = types.Tool(code_execution=types.ToolCodeExecution())
        llm_request.config.tools = [*(llm_request.config.tools or []), tool]
