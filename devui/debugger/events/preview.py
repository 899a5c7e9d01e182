"""One-line previews of JSON values.

The cost of a preview depends on what it shows: a value of ten megabytes isn't serialized to keep
eighty characters of it.
"""

import json
from collections.abc import Iterator, Mapping
from typing import TypeAlias

Json: TypeAlias = "Mapping[str, Json] | list[Json] | str | int | float | bool | None"

ELLIPSIS = "…"
_LONGEST = 65_536
"""The longest text that is parsed as JSON, in characters."""
_encode = json.JSONEncoder(ensure_ascii=False, default=repr).encode


def shortened(text: str, limit: int) -> str:
    """Cut the text to `limit` characters; the `…` at a cut also informs the redactor (R64)."""
    return text if len(text) <= limit else text[: limit - 1] + ELLIPSIS


def one_line(text: str, limit: int) -> str:
    """Put the text on one line of at most `limit` characters, with single spaces."""
    line = " ".join(text[: limit * 4].split())
    if len(line) <= limit and len(text) <= limit * 4:
        return line
    return line[: limit - 1].rstrip() + ELLIPSIS


def json_in(text: str) -> dict[str, object] | list[object] | None:
    """Parse a text that is a non-empty JSON object or array; None for other and for long texts."""
    if len(text) > _LONGEST or text[:1] + text[-1:] not in {"{}", "[]"}:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) and value else None


def preview(value: object, limit: int) -> str:
    """Return the value as one-line JSON of at most `limit` characters; `…` marks a cut."""
    return _clip(_tokens(value, limit), limit)


def arguments(args: Mapping[str, object], limit: int) -> str:
    """Return the arguments of a call as `city="London", nights=2`, at most `limit` characters."""
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
