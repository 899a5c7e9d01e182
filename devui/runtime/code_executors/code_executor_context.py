"""`CodeExecutorContext`: what is kept between executions of code (adk-runtime 10.5)."""

import copy
from dataclasses import asdict
from typing import Any

from devui.runtime.code_executors.code_execution_utils import File
from devui.runtime.platform.time import get_time
from devui.runtime.sessions.state import StateLike

_CONTEXT = "_code_execution_context"
_SESSION_ID = "execution_session_id"
_PROCESSED = "processed_input_files"
_FILES = "_code_executor_input_files"
_ERRORS = "_code_executor_error_counts"
_RESULTS = "_code_execution_results"


class CodeExecutorContext:
    """Reads and writes the execution data in a session's state.

    `get_state_delta` returns what should be stored; input files, counts and results last as long as
    the session object.
    """

    def __init__(self, session_state: StateLike) -> None:
        self._state = session_state
        self._context: dict[str, Any] = dict(session_state.get(_CONTEXT) or {})

    def get_state_delta(self) -> dict[str, Any]:
        """Return what an event should write into the state."""
        return {_CONTEXT: copy.deepcopy(self._context)}

    def get_execution_id(self) -> str | None:
        """Return the id with which a stateful executor continues, or None before the first run."""
        return self._context.get(_SESSION_ID)

    def set_execution_id(self, session_id: str) -> None:
        """Set that id."""
        self._context[_SESSION_ID] = session_id

    def get_processed_file_names(self) -> list[str]:
        """Return the names of the input files that code has examined."""
        return list(self._context.get(_PROCESSED) or [])

    def add_processed_file_names(self, file_names: list[str]) -> None:
        """Record that code has examined these files."""
        self._context[_PROCESSED] = [*self.get_processed_file_names(), *file_names]

    def get_input_files(self) -> list[File]:
        """Return the files that code can read."""
        return [File(**file) for file in self._state.get(_FILES) or []]

    def add_input_files(self, input_files: list[File]) -> None:
        """Add files that code can read."""
        files = self._state.get(_FILES) or []
        self._state[_FILES] = [*files, *(asdict(file) for file in input_files)]

    def clear_input_files(self) -> None:
        """Forget all input files, and which of them were examined."""
        self._state[_FILES] = []
        self._context[_PROCESSED] = []

    def get_error_count(self, invocation_id: str) -> int:
        """Return how many failures were counted in the invocation."""
        return int((self._state.get(_ERRORS) or {}).get(invocation_id, 0))

    def increment_error_count(self, invocation_id: str) -> None:
        """Count a failure."""
        count = self.get_error_count(invocation_id) + 1
        self._state[_ERRORS] = {**(self._state.get(_ERRORS) or {}), invocation_id: count}

    def reset_error_count(self, invocation_id: str) -> None:
        """Reset the count of the invocation's failures."""
        counts = self._state.get(_ERRORS) or {}
        self._state[_ERRORS] = {key: n for key, n in counts.items() if key != invocation_id}

    def update_code_execution_result(
        self, invocation_id: str, code: str, result_stdout: str, result_stderr: str
    ) -> None:
        """Store the result of an execution."""
        results = self._state.get(_RESULTS) or {}
        entry = {
            "code": code,
            "result_stdout": result_stdout,
            "result_stderr": result_stderr,
            "timestamp": int(get_time()),
        }
        own = [*results.get(invocation_id, []), entry]
        self._state[_RESULTS] = {**results, invocation_id: own}
