"""What goes into the execution of code and what comes out of it (adk-runtime 10.5)."""

import base64
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class File:
    """A file that code reads or writes."""

    name: str
    """With its extension, such as `sales.csv`."""
    content: str | bytes
    """The bytes, or their base64 form as text."""
    mime_type: str = "text/plain"

    def data(self) -> bytes:
        """The bytes of the file; ValueError if a text is no base64."""
        if isinstance(self.content, bytes):
            return self.content
        return base64.b64decode(self.content, validate=True)


@dataclass(slots=True)
class CodeExecutionInput:
    """The code, and what it finds when it runs."""

    code: str
    input_files: list[File] = field(default_factory=list)
    execution_id: str | None = None
    """Executions of one id go on where the last one ended, if the executor is stateful."""


@dataclass(slots=True)
class CodeExecutionResult:
    """What the code wrote."""

    stdout: str = ""
    stderr: str = ""
    """Why the code failed; empty if it ran through."""
    output_files: list[File] = field(default_factory=list)
    """Files to keep as artifacts."""
    exit_code: int | None = None
    """The exit status of the process; None if the executor knows none."""
