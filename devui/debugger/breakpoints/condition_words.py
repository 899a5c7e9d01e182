"""The words of a condition: names, numbers, texts, operators, each with its place."""

import re
from dataclasses import dataclass
from typing import Any, Literal

MAX_LENGTH = 1000
"""Characters of a condition."""

_KEYWORDS = {"and", "or", "not", "in", "like"}
_CONSTANTS: dict[str, Any] = {"true": True, "false": False, "null": None}
_ESCAPES = {"n": "\n", "t": "\t"}
_WORD = re.compile(
    r"""\s*(?:
        (?P<number>\d{1,18}(?:\.\d{1,18})?)
      | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<name>[^\W\d]\w*)
      | (?P<mark>==|!=|<=|>=|[<>()\[\],.\-])
      | (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class ConditionError(ValueError):
    """A text that is no condition; `at` is where, in characters from 0."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(f"column {at + 1}: {message}")
        self.message = message
        self.at = at

    def moved(self, by: int) -> "ConditionError":
        """The same of a text in which this one begins so many characters later."""
        return ConditionError(self.message, self.at + by)


@dataclass(frozen=True, slots=True)
class Word:
    kind: Literal["number", "text", "name", "mark", "constant", "end"]
    """Keywords are marks."""
    text: str
    at: int
    value: Any = None
    """Of a number, a text or a constant."""


def words(source: str) -> list[Word]:
    """The words of a text, the last of kind `end`; raises ConditionError at the first odd one."""
    found: list[Word] = []
    at = 0
    while not found or found[-1].kind != "end":
        match = _WORD.match(source, at)
        if match is None:
            at += len(source[at:]) - len(source[at:].lstrip())
            raise ConditionError(_odd(source[at]), at)
        found.append(_word(match))
        at = match.end()
    return found


def _word(match: re.Match[str]) -> Word:
    kind = str(match.lastgroup)
    text, at = match[kind], match.start(kind)
    if kind == "number":
        return Word("number", text, at, float(text) if "." in text else int(text))
    if kind == "text":
        value = _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), text[1:-1])
        return Word("text", text, at, value)
    if kind == "name" and text in _CONSTANTS:
        return Word("constant", text, at, _CONSTANTS[text])
    if kind == "name" and text not in _KEYWORDS:
        return Word("name", text, at)
    return Word("end" if kind == "end" else "mark", text, at)


def _odd(character: str) -> str:
    if character in "\"'":
        return f"the text that begins with {character} has no end"
    if character == "=":
        return "compare with =="
    return f"unexpected {character!r}"
