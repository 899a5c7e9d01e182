"""What goes into the execution of code and what comes out of it (adk-runtime 10.5)."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devui.runtime.code_executors import code_parts

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.code_executors.code_parts import Delimiters


@dataclass(frozen=True, slots=True)
class File:
    """A file that code reads or writes."""

    name: str
    """With its extension, such as `sales.csv`."""
    content: str | bytes
    """The bytes, or their base64 form as text."""
    mime_type: str = "text/plain"
    """What the content is."""

    def data(self) -> bytes:
        """The bytes of the file; ValueError if a text is no base64."""
        if isinstance(self.content, bytes):
            return self.content
        return base64.b64decode(self.content, validate=True)


@dataclass(slots=True)
class CodeExecutionInput:
    """The code, and what it finds when it runs."""

    code: str
    """The program."""
    input_files: list[File] = field(default_factory=list)
    """Put beside it before it is run."""
    execution_id: str | None = None
    """Executions of one id go on where the last one ended, if the executor is stateful."""


@dataclass(slots=True)
class CodeExecutionResult:
    """What the code wrote."""

    stdout: str = ""
    """What it printed."""
    stderr: str = ""
    """Why the code failed; empty if it ran through."""
    output_files: list[File] = field(default_factory=list)
    """Files to keep as artifacts."""
    exit_code: int | None = None
    """The exit status of the process; None if the executor knows none."""


class CodeExecutionUtils:
    """What executors of one's own do with files, and with code in contents (adk-runtime 10.5)."""

    @staticmethod
    def get_encoded_file_content(data: bytes) -> bytes:
        """The base64 form of these bytes; what already is base64 stays."""
        try:
            return data if base64.b64encode(base64.b64decode(data)) == data else _encoded(data)
        except binascii.Error:
            return _encoded(data)

    @staticmethod
    def extract_code_and_truncate_content(
        content: "types.Content", code_block_delimiters: "Sequence[Delimiters]"
    ) -> str | None:
        """The first code that has no result, or None; the content then ends with that code."""
        found = code_parts.first_code(content.parts or [], code_block_delimiters)
        if found is None:
            return None
        code, content.parts = found
        return code

    @staticmethod
    def build_executable_code_part(code: str) -> "types.Part":
        """Python code as a part of a model's answer."""
        return code_parts.code_part(code)

    @staticmethod
    def build_code_execution_result_part(
        code_execution_result: CodeExecutionResult,
    ) -> "types.Part":
        """A result as a part: the error, or the output and the names of the files."""
        return code_parts.result_part(code_execution_result)

    @staticmethod
    def convert_code_execution_parts(
        content: "types.Content",
        code_block_delimiter: "Delimiters",
        execution_result_delimiters: "Delimiters",
    ) -> None:
        """Turn code or a result at the end of the content into text, in the content itself."""
        plain = code_parts.as_plain_text(content, code_block_delimiter, execution_result_delimiters)
        content.parts, content.role = plain.parts, plain.role


def _encoded(data: bytes) -> bytes:
    return base64.b64encode(data)
