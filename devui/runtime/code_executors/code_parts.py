"""Code in the contents of models: found in what they say, shown in what they are told.

See adk-runtime 10.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from google.genai import types

if TYPE_CHECKING:
    from devui.runtime.code_executors.code_execution_utils import CodeExecutionResult

Delimiters = tuple[str, str]


@dataclass(frozen=True, slots=True)
class FoundCode:
    """The first code of an answer, and the answer up to the end of that code."""

    code: str
    content: types.Content


def find_code(
    content: types.Content, delimiters: Sequence[Delimiters], *, planned: bool = False
) -> FoundCode | None:
    """The first code that nobody has run yet: a part of its own, or a fenced block of the text.

    The model's thoughts are kept and not searched; under a planner, which marks what it reads as
    thoughts (`planned`), only those that the model has signed are its own. What follows the code
    is left out: the model wrote it before it knew the result.
    """
    thoughts = [
        part
        for part in content.parts or []
        if part.thought and (part.thought_signature or not planned)
    ]
    said = [part for part in content.parts or [] if part not in thoughts]
    found = first_code(said, delimiters)
    if found is None:
        return None
    code, kept = found
    return FoundCode(code, content.model_copy(update={"parts": [*thoughts, *kept]}))


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
    said = [first.model_copy(update={"text": before})] if before else []
    return code, [*said, code_part(code)]


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
    told = []
    if result.stdout or not result.output_files:
        told.append(f"Code execution result:\n{result.stdout}\n")
    if result.output_files:
        names = ",".join(f"`{file.name}`" for file in result.output_files)
        told.append(f"Saved artifacts:\n{names}")
    done = types.CodeExecutionResult(outcome=types.Outcome.OUTCOME_OK, output="\n\n".join(told))
    return types.Part(code_execution_result=done)


def as_plain_text(content: types.Content, block: Delimiters, result: Delimiters) -> types.Content:
    """A content whose last part is code or a result as text, for models that know neither.

    A result that stands alone becomes the user's; one among other parts is the model's own.
    """
    last = content.parts[-1] if content.parts else None
    if last is None or content.parts is None:
        return content
    if last.executable_code:
        shown = types.Part(text=f"{block[0]}{last.executable_code.code or ''}{block[1]}")
        return content.model_copy(update={"parts": [*content.parts[:-1], shown]})
    if last.code_execution_result and len(content.parts) == 1:
        output = last.code_execution_result.output
        shown = types.Part(text=f"{result[0]}{output}{result[1]}" if output is not None else "")
        return types.Content(role="user", parts=[shown])
    return content
