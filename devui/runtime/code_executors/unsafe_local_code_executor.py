"""`UnsafeLocalCodeExecutor`: runs a model's code on this machine (adk-runtime 10.5)."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Self

from pydantic import model_validator

from devui.runtime.code_executors.base_code_executor import BaseCodeExecutor
from devui.runtime.code_executors.code_execution_utils import CodeExecutionResult
from devui.runtime.lifeline import WATCH, lifeline

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.code_executors.code_execution_utils import CodeExecutionInput

_KILL_GRACE = 5.0
"""Seconds between SIGTERM and SIGKILL."""

_BOOT = (
    WATCH
    + """\
import traceback

sys.excepthook = lambda kind, error, at: traceback.print_exception(kind, error, at and at.tb_next)
exec(compile(sys.stdin.buffer.read(), '<code>', 'exec'), {'__name__': '__main__'})
"""
)
"""Runs the code from stdin; WATCH ends it when this process has been killed."""


class UnsafeLocalCodeExecutor(BaseCodeExecutor):
    """Runs code in a separate Python process, with all rights of this one.

    Nothing protects this machine from the code: use it only for agents you trust, or in a
    container. The process starts in the current directory, can import the same modules, and is
    terminated with its children when it times out or this process exits. Only failures count as
    errors: warnings on stderr of successful code are dropped.
    """

    timeout_seconds: int | None = 300
    """Seconds that one execution may take; None sets no limit."""

    @model_validator(mode="after")
    def _check_abilities(self) -> Self:
        if self.optimize_data_file:
            raise ValueError(
                "UnsafeLocalCodeExecutor does not support optimize_data_file, since code gets no"
                " files. Give the agent a tool that reads them, or write a BaseCodeExecutor that"
                " puts input_files next to the code."
            )
        if self.stateful:
            raise ValueError(
                "UnsafeLocalCodeExecutor starts a new process each time; it cannot be stateful."
            )
        return self

    def execute_code(
        self, invocation_context: InvocationContext, code_execution_input: CodeExecutionInput
    ) -> CodeExecutionResult:
        """Run the code as a script, and wait until it ends."""
        with lifeline() as pipe:
            process = subprocess.Popen(  # noqa: S603  running unchecked code is what it is for
                [sys.executable, "-c", _BOOT, str(pipe)],
                pass_fds=(pipe,),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                env=_environment(),
                start_new_session=True,  # so that the code's own children can be ended with it
            )
            return self._result(process, code_execution_input.code)

    def _result(self, process: subprocess.Popen[str], code: str) -> CodeExecutionResult:
        try:
            out, error = process.communicate(code, self.timeout_seconds)
        except subprocess.TimeoutExpired:
            out, error = _end(process)
            late = f"The code was ended after {self.timeout_seconds} seconds."
            error = f"{error}\n{late}" if error else late
            return CodeExecutionResult(stdout=out, stderr=error, exit_code=process.returncode)
        status = process.returncode
        failure = (error or f"The code ended with status {status}.") if status else ""
        return CodeExecutionResult(stdout=out, stderr=failure, exit_code=status)


def _environment() -> dict[str, str]:
    modules = os.pathsep.join(path for path in sys.path if path)
    return {**os.environ, "PYTHONPATH": modules, "PYTHONIOENCODING": "utf-8"}


def _end(process: subprocess.Popen[str]) -> tuple[str, str]:
    """End a process and its children; return what they have written until then."""
    _signal(process, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_KILL_GRACE)
    # A child that ignores the first signal would hold the pipes open forever.
    _signal(process, signal.SIGKILL)
    return process.communicate()


def _signal(process: subprocess.Popen[str], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
