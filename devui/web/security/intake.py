"""Reading request bodies: small enough, well formed, and free of what breaks later (R26).

Neither uvicorn nor Starlette bounds a body, and the JSON parser of the standard library takes NaN,
keeps the last of two equal keys and lets lone surrogates through until SQLite refuses them. All of
that is refused here, at the door, with a reason.
"""

import asyncio
import json
import math
import re
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias, TypeVar
from urllib.parse import parse_qsl

from starlette.datastructures import FormData
from starlette.requests import Request

from devui.web.errors import BadRequest, TooLarge, UnsupportedMedia

BODY_LIMIT: Final = 1_000_000
"""Bytes of a body where the route says nothing else."""

MAX_DEPTH: Final = 64
"""Arrays and objects inside each other."""

MAX_KEY: Final = 256
"""Characters of an object's key."""

MAX_FIELDS: Final = 1000
"""Fields of a form."""

Json: TypeAlias = dict[str, Any] | list[Any] | str | int | float | bool | None

NAMES: Final = "devui.names"
"""In a request's scope: what puts the names themselves in the place of their stand-ins."""
_STAND_IN: Final = b"redacted-"

Value = TypeVar("Value")

_LARGEST: Final = 2**63 - 1
_SMALLEST: Final = -(2**63)
_MAX_DIGITS: Final = 20
_OFF_LOOP: Final = 65_536
_REQUIRED: Final[Any] = object()
_BRACKET: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
"""A whole string, so that brackets in it do not count, or one bracket; possessive, thus linear."""


async def read_json(
    request: Request,
    limit: int = BODY_LIMIT,
    empty: Json = _REQUIRED,
    *,
    last_comma: bool = False,
) -> Json:
    """Return the JSON value of the body.

    Args:
        request: the body is read once.
        limit: bytes; reading stops at the first one above.
        empty: what an empty body stands for; without it an empty body is an error.
        last_comma: take an object that has a comma before its end.

    Raises:
        UnsupportedMedia: the body is compressed, or declared as something else than JSON.
        TooLarge: the body exceeds `limit`.
        BadRequest: it is not JSON, or JSON that we do not take; the sentence says which.
    """
    _require_media(request, "application/json")
    body = await _read(request, limit)
    if not body and empty is not _REQUIRED:
        return empty
    if last_comma:
        body = _without_last_comma(body)
    if len(body) > _OFF_LOOP:
        value = await asyncio.to_thread(parse_json, body)
    else:
        value = parse_json(body)
    return _meant(request, body, value)


async def read_form(request: Request, limit: int = BODY_LIMIT) -> FormData:
    """Return the fields of an urlencoded form.

    Raises:
        UnsupportedMedia: the body is compressed or not an urlencoded form.
        TooLarge: the body exceeds `limit`.
        BadRequest: it has too many fields, is not UTF-8 or holds a NUL.
    """
    _require_media(request, "application/x-www-form-urlencoded")
    body = await _read(request, limit)
    text = _decode(body)
    try:
        fields = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
    except UnicodeDecodeError as error:
        raise BadRequest("the form is not UTF-8 text") from error
    except ValueError as error:
        raise BadRequest(f"the form has more than {MAX_FIELDS} fields") from error
    if "\0" in text or any("\0" in part for field in fields for part in field):
        raise BadRequest("the form holds a NUL character")
    return FormData([(name, value) for name, value in _meant(request, body, [*map(list, fields)])])


def parse_json(body: bytes) -> Json:
    """Return the value of a JSON text under the rules of this module.

    Raises:
        BadRequest: it is not JSON, or JSON that we do not take.
    """
    text = _decode(body)
    _check_depth(text)
    try:
        value: Json = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise BadRequest(
            f"this is not JSON: {error.msg} at line {error.lineno} column {error.colno}"
        ) from error
    if "\\u" in text:
        _check_text(value)
    return value


def _without_last_comma(body: bytes) -> bytes:
    """The body without a comma right before its last brace: no JSON has one there."""
    inside = body.rstrip().removesuffix(b"}").rstrip()
    return inside[:-1] + b"}" if inside.endswith(b",") and body.rstrip().endswith(b"}") else body


def _meant(request: Request, body: bytes, value: Value) -> Value:
    """The value with names for which the body has stand-ins."""
    names: Callable[[Value], Value] | None = request.scope.get(NAMES)
    return names(value) if names is not None and _STAND_IN in body else value


async def _read(request: Request, limit: int) -> bytes:
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:_MAX_DIGITS]) > limit:
        raise TooLarge(limit)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise TooLarge(limit)
    return bytes(body)


def _require_media(request: Request, media: str) -> None:
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise UnsupportedMedia("compressed bodies are not taken; send the body as it is")
    declared = request.headers.get("content-type")
    if declared is not None and declared.partition(";")[0].strip().lower() != media:
        raise UnsupportedMedia(f"the body must be sent as {media}")


def _decode(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequest(f"the body is not UTF-8 text: bad byte at {error.start}") from error


def _check_depth(text: str) -> None:
    depth = 0
    for match in _BRACKET.finditer(text):
        mark = match[0]
        if mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise BadRequest(f"the JSON is nested deeper than {MAX_DEPTH} levels")
        elif mark in "]}":
            depth -= 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise BadRequest(f"the JSON has the key {_repeated(pairs)!r} twice in one object")
    if any(len(key) > MAX_KEY for key in made):
        raise BadRequest(f"the JSON has a key longer than {MAX_KEY} characters")
    return made


def _repeated(pairs: Iterable[tuple[str, Any]]) -> str:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            return key[:MAX_KEY]
        seen.add(key)
    return ""


def _integer(digits: str) -> int:
    if len(digits) <= _MAX_DIGITS and _SMALLEST <= int(digits) <= _LARGEST:
        return int(digits)
    raise BadRequest("the JSON has a whole number that does not fit into 64 bits")


def _number(digits: str) -> float:
    number = float(digits)
    if math.isfinite(number):
        return number
    raise BadRequest("the JSON has a number that is too large")


def _constant(name: str) -> float:
    raise BadRequest(f"the JSON has {name}, which JSON does not know")


def _check_text(value: Json) -> None:
    """Refuse what only an escape can smuggle in: NUL and half a surrogate pair."""
    waiting: list[Json] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += item.keys()
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, str):
            _check_string(item)


def _check_string(text: str) -> None:
    if "\0" in text:
        raise BadRequest("the JSON has a text with a NUL character")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadRequest("the JSON has a text with half of a surrogate pair") from error


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=_constant,
    parse_float=_number,
    parse_int=_integer,
)
