"""Reading request bodies: small enough, well formed, and free of what breaks later (R26).

Neither uvicorn nor Starlette bounds a body, and the JSON parser of the standard library takes NaN,
keeps the last of two equal keys and lets lone surrogates through until SQLite refuses them. All of
that is refused here, at the door, with a reason.
"""

import asyncio
import json
import math
import re
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Any, Final, TypeAlias, TypeVar
from urllib.parse import parse_qsl

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from devui.web.errors import BadRequest, TooLarge, Unprocessable, UnsupportedMedia

BODY_LIMIT: Final = 1_000_000
"""Bytes of a body where the route says nothing else."""

MAX_DEPTH: Final = 64
"""Arrays and objects inside each other."""

DEPTH_OF_RUNTIME: Final = 264
"""The same of what a runtime writes: the deepest event, inside a session."""

MAX_KEY: Final = 256
"""Characters of an object's key."""

MAX_FIELDS: Final = 1000
"""Fields of a form."""

Json: TypeAlias = dict[str, Any] | list[Any] | str | int | float | bool | None

NAMES: Final = "devui.names"
"""In a request's scope: what puts the names themselves in the place of their stand-ins."""
_STAND_IN: Final = b"redacted-"
_WITH_FILES: Final = "multipart/form-data"
_LIKE_JSON: Final = ("{", "[", '"')

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
    of_runtime: bool = False,
) -> Json:
    """Return the JSON value of the body.

    Args:
        request: the body is read once.
        limit: bytes; reading stops at the first one above.
        empty: what an empty body stands for; without it an empty body is an error.
        last_comma: take an object that has a comma before its end.
        of_runtime: take every JSON that a runtime writes into events and state: any key, any
            integer, NULs, and the depth of the deepest event.

    Raises:
        Unprocessable: nothing can keep a value in it, with its place; only with `of_runtime`.
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
        value = await asyncio.to_thread(parse_json, body, of_runtime=of_runtime)
    else:
        value = parse_json(body, of_runtime=of_runtime)
    return _with_names(request, body, value)


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
        raise BadRequest("the form isn't valid UTF-8") from error
    except ValueError as error:
        raise BadRequest(f"the form has more than {MAX_FIELDS} fields") from error
    if "\0" in text or any("\0" in part for field in fields for part in field):
        raise BadRequest("the form contains a NUL character")
    return FormData(
        [(name, value) for name, value in _with_names(request, body, [*map(list, fields)])]
    )


async def read_form_with_files(request: Request, limit: int) -> FormData:
    """Return the fields and files of a form, urlencoded or `multipart/form-data`.

    Raises:
        UnsupportedMedia: the body is compressed or no such form.
        TooLarge: the body exceeds `limit`, or a field `BODY_LIMIT`.
        BadRequest: the form can't be parsed, or has a NUL outside of its files.
    """
    content_type = request.headers.get("content-type", "")
    if content_type.partition(";")[0].strip().lower() != _WITH_FILES:
        return await read_form(request)
    _require_media(request, _WITH_FILES)
    body = await _read(request, limit)
    try:
        form = await MultiPartParser(
            request.headers, _once(body), max_files=MAX_FIELDS, max_part_size=limit
        ).parse()
    except MultiPartException as error:
        raise BadRequest(f"the form can't be read: {error.message}") from error
    entries = form.multi_items()
    texts = [[name, value] for name, value in entries if isinstance(value, str)]
    if any(len(value.encode()) > BODY_LIMIT for _, value in texts):
        raise TooLarge(BODY_LIMIT)
    files = [(name, value) for name, value in entries if isinstance(value, UploadFile)]
    pairs = [*texts, *([name, file.filename or ""] for name, file in files)]
    if any("\0" in part for field in pairs for part in field):
        raise BadRequest("the form contains a NUL character")
    fields = [(name, value) for name, value in _with_names(request, body, texts)]
    return FormData([*fields, *files])


async def _once(body: bytes) -> AsyncGenerator[bytes, None]:
    yield body


def parse_json(body: bytes, *, of_runtime: bool = False) -> Json:
    """Return the value of a JSON text under the rules of this module; `of_runtime` as above.

    Raises:
        BadRequest: it is not JSON, or JSON that we do not take.
        Unprocessable: nothing can keep a value in it, with its place; only with `of_runtime`.
    """
    text = _decode(body)
    _check_depth(text, of_runtime=of_runtime)
    try:
        value: Json = (_OF_RUNTIME if of_runtime else _DECODER).decode(text)
    except _NotKept:
        _require_kept(_LOOKING.decode(text), ["body"])
        raise
    except json.JSONDecodeError as error:
        raise BadRequest(
            f"invalid JSON: {error.msg} at line {error.lineno} column {error.colno}"
        ) from error
    if "\\u" in text:
        if of_runtime:
            _require_kept(value, ["body"])
        else:
            _check_text(value)
    return value


def parse_typed(text: str) -> Json:
    """Return the value of JSON in a field of a form, under the rules for what a runtime writes.

    Raises BadRequest with a sentence for that field.
    """
    try:
        return parse_json(text.encode(), of_runtime=True)
    except Unprocessable as error:
        raise BadRequest(str(error)) from error


def parse_typed_or_text(text: str) -> Json:
    """Return the value of JSON in a field of a form, or the text if it isn't meant as JSON.

    Raises BadRequest: it begins like JSON and isn't, which is a typo.
    """
    try:
        return parse_typed(text)
    except BadRequest:
        if text.lstrip().startswith(_LIKE_JSON):
            raise
        return text


def _without_last_comma(body: bytes) -> bytes:
    """The body without a comma right before its last brace: no JSON has one there."""
    inside = body.rstrip().removesuffix(b"}").rstrip()
    return inside[:-1] + b"}" if inside.endswith(b",") and body.rstrip().endswith(b"}") else body


def _with_names(request: Request, body: bytes, value: Value) -> Value:
    """The value with names for which the body has stand-ins."""
    names: Callable[[Value], Value] | None = request.scope.get(NAMES)
    return names(value) if names is not None and _STAND_IN in body else value


async def _read(request: Request, limit: int) -> bytes:
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:_MAX_DIGITS]) > limit:
        raise TooLarge(limit)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise TooLarge(limit)
    return bytes(body)


def _require_media(request: Request, media: str) -> None:
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise UnsupportedMedia("compressed bodies aren't accepted; send the body uncompressed")
    content_type = request.headers.get("content-type")
    if content_type is not None and content_type.partition(";")[0].strip().lower() != media:
        raise UnsupportedMedia(f"the body must be sent as {media}")


def _decode(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequest(f"the body isn't valid UTF-8: bad byte at {error.start}") from error


def _check_depth(text: str, *, of_runtime: bool) -> None:
    depth, most = 0, DEPTH_OF_RUNTIME if of_runtime else MAX_DEPTH
    for match in _BRACKET.finditer(text):
        mark = match[0]
        if mark in "[{":
            depth += 1
            if depth > most:
                where = f"line {text.count(chr(10), 0, match.start()) + 1}"
                message = f"the JSON is nested deeper than {most} levels, at {where}"
                raise _misfit("too_deep", ["body"], message) if of_runtime else BadRequest(message)
        elif mark in "]}":
            depth -= 1


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise BadRequest(f"the JSON has the key {_repeated_key(pairs)!r} twice in one object")
    return members


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = _unique(pairs)
    if any(len(key) > MAX_KEY for key in members):
        raise BadRequest(f"the JSON has a key longer than {MAX_KEY} characters")
    return members


def _repeated_key(pairs: Iterable[tuple[str, Any]]) -> str:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            return key[:MAX_KEY]
        seen.add(key)
    return ""


def _integer(digits: str) -> int:
    if len(digits) <= _MAX_DIGITS and _SMALLEST <= int(digits) <= _LARGEST:
        return int(digits)
    raise BadRequest("the JSON has a whole number that doesn't fit in 64 bits")


def _number(digits: str) -> float:
    number = float(digits)
    if math.isfinite(number):
        return number
    raise BadRequest("the JSON has a number that is too large")


class _NotKept(BadRequest):
    """A number that Python cannot hold; `_LOOKING` leaves it in its place, to tell where it is."""


def _any_integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:
        raise _NotKept(f"this whole number has {len(digits):,} digits, which is too many") from None


def _any_number(digits: str) -> float:
    number = float(digits)
    if math.isfinite(number):
        return number
    raise _NotKept(f"the number {digits[:20]} is too large")


def _error_instead(read: Callable[[str], float]) -> Callable[[str], Any]:
    """The same that leaves the error in the place of what cannot be kept."""

    def reading(digits: str) -> Any:
        try:
            return read(digits)
        except _NotKept as error:
            return error

    return reading


def _constant(name: str) -> float:
    raise BadRequest(f"the JSON has {name}, which isn't valid JSON")


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


def _require_kept(value: Any, place: list[str | int]) -> None:
    """Refuse a lone surrogate, and what `_LOOKING` has left, with its place."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            half = f"the lone surrogate {value[error.start]!r} at {error.start}"
            message = f"the text contains {half}: replace it"
            raise _misfit("string_unicode", place, message) from error
    elif isinstance(value, _NotKept):
        raise _misfit("number_too_large", place, str(value))
    elif isinstance(value, dict):
        for key, each in value.items():
            _require_kept(key, [*place, key])
            _require_kept(each, [*place, key])
    elif isinstance(value, list):
        for number, each in enumerate(value):
            _require_kept(each, [*place, number])


def _misfit(kind: str, place: list[str | int], message: str) -> Unprocessable:
    return Unprocessable([{"type": kind, "loc": [*map(_printable, place)], "msg": message}])


def _printable(step: str | int) -> str | int:
    """A step of a place, so that an answer can have it."""
    return step if isinstance(step, int) else step.encode(errors="backslashreplace").decode()


def _check_string(text: str) -> None:
    if "\0" in text:
        raise BadRequest("the JSON contains a NUL character")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadRequest("the JSON contains a lone surrogate") from error


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=_constant,
    parse_float=_number,
    parse_int=_integer,
)

_OF_RUNTIME: Final = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_constant=_constant,
    parse_float=_any_number,
    parse_int=_any_integer,
)

_LOOKING: Final = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_constant=_constant,
    parse_float=_error_instead(_any_number),
    parse_int=_error_instead(_any_integer),
)
