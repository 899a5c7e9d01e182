"""What goes into the execution of code and what comes out of it (adk-runtime 10.5)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass, field

from google.genai import types

# Code in the contents of models: found in what they say, shown in what they are told.
#
# See adk-runtime 10.5.


Delimiters = tuple[str, str]


@dataclass(frozen=True, slots=True)
class FoundCode:
    """The first code of an answer, and the answer up to the end of that code."""

    code: str
    content: types.Content


def find_code(
    content: types.Content, delimiters: Sequence[Delimiters], *, is_planned: bool = False
) -> FoundCode | None:
    """The first code that nobody has run yet: a part of its own, or a fenced block of the text.

    The model's thoughts are kept and not searched; under a planner, which marks what it reads as
    thoughts (`is_planned`), only those that the model has signed are its own. What follows the code
    is left out: the model wrote it before it knew the result.
    """
    thoughts = [
        part
        for part in content.parts or []
        if part.thought and (part.thought_signature or not is_planned)
    ]
    answer_parts = [part for part in content.parts or [] if part not in thoughts]
    match = first_code(answer_parts, delimiters)
    if match is None:
        return None
    code, parts = match
    return FoundCode(code, content.model_copy(update={"parts": [*thoughts, *parts]}))


def first_code(
    parts: Sequence[types.Part], delimiters: Sequence[Delimiters]
) -> tuple[str, list[types.Part]] | None:
    """The first code of these parts that has no result, and the parts up to the end of it."""
    for index, part in enumerate(parts):
        following = parts[index + 1] if index + 1 < len(parts) else None
        if part.executable_code and not (following and following.code_execution_result):
            return part.executable_code.code or "", list(parts[: index + 1])
    text = "\n".join(part.text for part in parts if part.text)
    block = _first_block(text, delimiters)
    if block is None:
        return None
    before, code = block
    first = next(part for part in parts if part.text)
    introduction = [first.model_copy(update={"text": before})] if before else []
    return code, [*introduction, code_part(code)]


def _first_block(text: str, delimiters: Sequence[Delimiters]) -> tuple[str, str] | None:
    """What stands before the first fenced code, and the code."""
    blocks = []
    for begin, end in delimiters:
        start = text.find(begin)
        stop = text.find(end, start + len(begin)) if start >= 0 else -1
        if stop >= 0:
            blocks.append((start, text[:start], text[start + len(begin) : stop]))
    if not blocks:
        return None
    _, before, code = min(blocks)
    return (before, code) if code else None


def code_part(code: str) -> types.Part:
    """Code as a part of a model's answer."""
    executable = types.ExecutableCode(code=code, language=types.Language.PYTHON)
    return types.Part(executable_code=executable)


def result_part(result: CodeExecutionResult) -> types.Part:
    """A result as the part that a model reads: the error, or the output and the saved files."""
    if result.stderr:
        failed = types.CodeExecutionResult(
            outcome=types.Outcome.OUTCOME_FAILED, output=result.stderr
        )
        return types.Part(code_execution_result=failed)
    sections = []
    if result.stdout or not result.output_files:
        sections.append(f"Code execution result:\n{result.stdout}\n")
    if result.output_files:
        names = ",".join(f"`{file.name}`" for file in result.output_files)
        sections.append(f"Saved artifacts:\n{names}")
    outcome = types.CodeExecutionResult(
        outcome=types.Outcome.OUTCOME_OK, output="\n\n".join(sections)
    )
    return types.Part(code_execution_result=outcome)


def as_plain_text(content: types.Content, block: Delimiters, result: Delimiters) -> types.Content:
    """A content whose last part is code or a result as text, for models that know neither.

    A result that stands alone becomes the user's; one among other parts is the model's own.
    """
    last = content.parts[-1] if content.parts else None
    if last is None or content.parts is None:
        return content
    if last.executable_code:
        text_part = types.Part(text=f"{block[0]}{last.executable_code.code or ''}{block[1]}")
        return content.model_copy(update={"parts": [*content.parts[:-1], text_part]})
    if last.code_execution_result and len(content.parts) == 1:
        output = last.code_execution_result.output
        text_part = types.Part(text=f"{result[0]}{output}{result[1]}" if output is not None else "")
        return types.Content(role="user", parts=[text_part])
    return content


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
    """The code to run, and its input files."""

    code: str
    """The program."""
    input_files: list[File] = field(default_factory=list)
    """Put beside it before it is run."""
    execution_id: str | None = None
    """Executions of one id go on where the last one ended, if the executor is stateful."""


@dataclass(slots=True)
class CodeExecutionResult:
    """The output of the code."""

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
            return data if base64.b64encode(base64.b64decode(data)) == data else _encode(data)
        except binascii.Error:
            return _encode(data)

    @staticmethod
    def extract_code_and_truncate_content(
        content: types.Content, code_block_delimiters: Sequence[Delimiters]
    ) -> str | None:
        """The first code that has no result, or None; the content then ends with that code."""
        match = first_code(content.parts or [], code_block_delimiters)
        if match is None:
            return None
        code, content.parts = match
        return code

    @staticmethod
    def build_executable_code_part(code: str) -> types.Part:
        """Python code as a part of a model's answer."""
        return code_part(code)

    @staticmethod
    def build_code_execution_result_part(
        code_execution_result: CodeExecutionResult,
    ) -> types.Part:
        """A result as a part: the error, or the output and the names of the files."""
        return result_part(code_execution_result)

    @staticmethod
    def convert_code_execution_parts(
        content: types.Content,
        code_block_delimiter: Delimiters,
        execution_result_delimiters: Delimiters,
    ) -> None:
        """Turn code or a result at the end of the content into text, in the content itself."""
        plain = as_plain_text(content, code_block_delimiter, execution_result_delimiters)
        content.parts, content.role = plain.parts, plain.role


def _encode(data: bytes) -> bytes:
    return base64.b64encode(data)
