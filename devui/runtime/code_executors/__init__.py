"""Code executors: run the code that a model writes."""

from devui.runtime.code_executors.base_code_executor import BaseCodeExecutor
from devui.runtime.code_executors.built_in_code_executor import BuiltInCodeExecutor
from devui.runtime.code_executors.code_execution_utils import (
    CodeExecutionInput,
    CodeExecutionResult,
    File,
)
from devui.runtime.code_executors.code_executor_context import CodeExecutorContext
from devui.runtime.code_executors.unsafe_local_code_executor import UnsafeLocalCodeExecutor

__all__ = [
    "BaseCodeExecutor",
    "BuiltInCodeExecutor",
    "CodeExecutionInput",
    "CodeExecutionResult",
    "CodeExecutorContext",
    "File",
    "UnsafeLocalCodeExecutor",
]
