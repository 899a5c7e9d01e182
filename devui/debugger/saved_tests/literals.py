"""Writes JSON values as Python literals that people can read and reviewers can trust.

Unprintable characters are escaped, since an agent's text could otherwise hide or reorder code.
"""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, Final

WIDTH: Final = 96
_PIECE: Final = 72
_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def literal(value: Any, *, indent: int = 0, used: int = 0) -> str:
    """Return the value as an expression, on one line if it fits after `used` columns.

    Further lines are indented by `indent` columns. Accepts JSON values and tuples.
    """
    one = _in_one_line(value)
    if used + len(one) <= WIDTH:
        return one
    inner = indent + 4
    match value:
        case str() if value:
            lines = [text(piece) for piece in _pieces(value)]
            return _block("()", lines, indent)
        case list() | tuple():
            lines = [literal(each, indent=inner, used=inner) + "," for each in value]
            return _block("()" if isinstance(value, tuple) else "[]", lines, indent)
        case dict():
            return _block("{}", [_entry(k, v, inner) for k, v in value.items()], indent)
    return one


def text(value: str) -> str:
    """Return the text as a literal in double quotes, on one line."""
    return f'"{"".join(map(_escape, value))}"'


def _in_one_line(value: Any) -> str:
    match value:
        case str():
            return text(value)
        case list():
            return f"[{', '.join(map(_in_one_line, value))}]"
        case tuple():
            comma = "," if len(value) == 1 else ""
            return f"({', '.join(map(_in_one_line, value))}{comma})"
        case dict():
            inner = ", ".join(f"{text(str(k))}: {_in_one_line(v)}" for k, v in value.items())
            return f"{{{inner}}}"
    return repr(value)


def _entry(key: str, value: Any, indent: int) -> str:
    name = f"{text(key)}: "
    return f"{name}{literal(value, indent=indent, used=indent + len(name))},"


def _block(brackets: str, lines: Sequence[str], indent: int) -> str:
    inner = "".join(f"{' ' * (indent + 4)}{line}\n" for line in lines)
    return f"{brackets[0]}\n{inner}{' ' * indent}{brackets[1]}"


def _pieces(value: str) -> Iterator[str]:
    """Yield the lines of a text, with long ones split at spaces."""
    for line in value.splitlines(keepends=True):
        pieces = textwrap.TextWrapper(
            _PIECE,
            expand_tabs=False,
            replace_whitespace=False,
            drop_whitespace=False,
            break_on_hyphens=False,
        ).wrap(line)
        yield from pieces if "".join(pieces) == line else [line]


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
