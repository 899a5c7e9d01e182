"""The input and output of code execution (adk-runtime 10.5)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass, field

from google.genai import types

# Code in contents: found in a model's answers, shown in its requests.
#
# See adk-runtime 10.5.


Delimiters = tuple[str, str]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """The first code of an answer, and the answer up to the end of that code."""

    code: str
    content: types.Content


def find_code(
    content: types.Content, delimiters: Sequence[Delimiters], *, is_planned: bool = False
) -> CodeBlock | None:
    """Return the first code without a result: a part of its own, or a fenced block in text.

    The model's thoughts are kept, but not searched. Under a planner, which marks text that it reads
    as thoughts (`is_planned`), only signed thoughts are the model's own. What follows the code is
    left out, since the model wrote it before it knew the result.
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
    return CodeBlock(code, content.model_copy(update={"parts": [*thoughts, *parts]}))


def first_code(
    parts: Sequence[types.Part], delimiters: Sequence[Delimiters]
) -> tuple[str, list[types.Part]] | None:
    """Return the first code of these parts without a result, and the parts up to its end."""
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
    """Return the text before the first fenced code, and the code."""
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
    """Return code as a part of a model's answer."""
    executable = types.ExecutableCode(code=code, language=types.Language.PYTHON)
    return types.Part(executable_code=executable)


def result_part(result: CodeExecutionResult) -> types.Part:
    """Return a result as a part to read: the error, or the output and the saved files."""
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
    """Convert code or a result at the end of a content to text, for models that know neither.

    A result on its own becomes a user message; one among other parts stays in the model's.
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
    """Includes the extension: `sales.csv`."""
    content: str | bytes
    """The bytes, or their base64 form as a string."""
    mime_type: str = "text/plain"
    """The type of the content."""

    def data(self) -> bytes:
        """Return the bytes of the file. Raises ValueError if a string isn't base64."""
        if isinstance(self.content, bytes):
            return self.content
        return base64.b64decode(self.content, validate=True)


@dataclass(slots=True)
class CodeExecutionInput:
    """The code to run, and its input files."""

    code: str
    """The program."""
    input_files: list[File] = field(default_factory=list)
    """Files to put beside the program before it runs."""
    execution_id: str | None = None
    """Executions with the same id continue where the last one ended, if the executor is
    stateful."""


@dataclass(slots=True)
class CodeExecutionResult:
    """The output of the code."""

    stdout: str = ""
    """What it printed."""
    stderr: str = ""
    """Why the code failed; empty if it succeeded."""
    output_files: list[File] = field(default_factory=list)
    """Files to keep as artifacts."""
    exit_code: int | None = None
    """The exit status of the process; None if the executor knows none."""


class CodeExecutionUtils:
    """Functions for custom executors: files, and code in contents (adk-runtime 10.5)."""

    @staticmethod
    def get_encoded_file_content(data: bytes) -> bytes:
        """Return the base64 form of these bytes; base64 stays as it is."""
        try:
            return data if base64.b64encode(base64.b64decode(data)) == data else _encode(data)
        except binascii.Error:
            return _encode(data)

    @staticmethod
    def extract_code_and_truncate_content(
        content: types.Content, code_block_delimiters: Sequence[Delimiters]
    ) -> str | None:
        """Return the first code without a result, or None; the content is cut after that code."""
        match = first_code(content.parts or [], code_block_delimiters)
        if match is None:
            return None
        code, content.parts = match
        return code

    @staticmethod
    def build_executable_code_part(code: str) -> types.Part:
        """Return Python code as a part of a model's answer."""
        return code_part(code)

    @staticmethod
    def build_code_execution_result_part(
        code_execution_result: CodeExecutionResult,
    ) -> types.Part:
        """Return a result as a part: the error, or the output and the names of the files."""
        return result_part(code_execution_result)

    @staticmethod
    def convert_code_execution_parts(
        content: types.Content,
        code_block_delimiter: Delimiters,
        execution_result_delimiters: Delimiters,
    ) -> None:
        """Convert code or a result at the end of the content to text, in place."""
        plain = as_plain_text(content, code_block_delimiter, execution_result_delimiters)
        content.parts, content.role = plain.parts, plain.role


def _encode(data: bytes) -> bytes:
    return base64.b64encode(data)
