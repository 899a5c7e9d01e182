"""One-line previews of JSON values.

A preview costs what it shows: a value of ten megabytes is not written out to keep eighty
characters of it.
"""

import json
from collections.abc import Iterator, Mapping
from typing import TypeAlias

Json: TypeAlias = "Mapping[str, Json] | list[Json] | str | int | float | bool | None"

ELLIPSIS = "…"
_LONGEST = 65_536
"""Characters of a text in which JSON is looked for."""
_encode = json.JSONEncoder(ensure_ascii=False, default=repr).encode


def shortened(text: str, limit: int) -> str:
    """The text, at most `limit` characters; `…` at a cut tells the redactor of it, too (R64)."""
    return text if len(text) <= limit else text[: limit - 1] + ELLIPSIS


def one_line(text: str, limit: int) -> str:
    """The text on one line, every run of white space made one space, at most `limit` characters."""
    line = " ".join(text[: limit * 4].split())
    if len(line) <= limit and len(text) <= limit * 4:
        return line
    return line[: limit - 1].rstrip() + ELLIPSIS


def json_in(text: str) -> dict[str, object] | list[object] | None:
    """The object or array that a text is the JSON of; None of other texts, and of long ones."""
    if len(text) > _LONGEST or text[:1] + text[-1:] not in {"{}", "[]"}:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) and value else None


def preview(value: object, limit: int) -> str:
    """The value as compact JSON of at most `limit` characters; `…` marks what was left out."""
    return _clip(_tokens(value, limit), limit)


def arguments(args: Mapping[str, object], limit: int) -> str:
    """The arguments of a call as `city="London", nights=2`, at most `limit` characters."""
    return _clip(_arguments(args, limit), limit)


def _arguments(args: Mapping[str, object], limit: int) -> Iterator[str]:
    for position, (name, value) in enumerate(args.items()):
        yield f"{', ' if position else ''}{name}="
        yield from _tokens(value, limit)


def _clip(pieces: Iterator[str], limit: int) -> str:
    text = ""
    for piece in pieces:
        text += piece
        if len(text) > limit:
            return text[: limit - 1] + ELLIPSIS
    return text


def _tokens(value: object, limit: int) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from _object(value, limit)
    elif isinstance(value, list | tuple):
        yield from _array(value, limit)
    elif isinstance(value, str):
        yield _encode(value[: limit + 1])
    else:
        yield _encode(value)


def _object(value: Mapping[str, object], limit: int) -> Iterator[str]:
    yield "{"
    for position, (key, item) in enumerate(value.items()):
        yield f"{', ' if position else ''}{_encode(str(key))}: "
        yield from _tokens(item, limit)
    yield "}"


def _array(value: list[object] | tuple[object, ...], limit: int) -> Iterator[str]:
    yield "["
    for position, item in enumerate(value):
        if position:
            yield ", "
        yield from _tokens(item, limit)
    yield "]"
