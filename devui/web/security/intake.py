"""Reads request bodies: small enough, well formed, and free of values that break later (R26).

Neither uvicorn nor Starlette limits the size of a body. The standard library's JSON parser accepts
NaN, keeps the last of two equal keys, and accepts lone surrogates, which SQLite refuses later. All
of these are refused here, with a reason.
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
"""The default size limit of a body, in bytes."""

MAX_DEPTH: Final = 64
"""The nesting limit of arrays and objects."""

MAX_RUNTIME_DEPTH: Final = 264
"""The nesting limit of JSON that a runtime writes: that of the deepest event, in a session."""

MAX_KEY: Final = 256
"""The length limit of an object's key, in characters."""

MAX_FIELDS: Final = 1000
"""The maximum number of fields in a form."""

Json: TypeAlias = dict[str, Any] | list[Any] | str | int | float | bool | None

NAMES: Final = "devui.names"
"""The key in a request's scope of the function that replaces pseudonyms with their names."""
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
"""A bracket, or a whole string, whose brackets don't count; possessive and therefore linear."""


async def read_json(
    request: Request,
    limit: int = BODY_LIMIT,
    empty: Json = _REQUIRED,
    *,
    allow_trailing_comma: bool = False,
    allow_runtime_json: bool = False,
) -> Json:
    """Return the JSON value of the body.

    Args:
        request: its body can be read only once.
        limit: the size limit in bytes; reading stops when it is exceeded.
        empty: the value of an empty body; by default, an empty body is an error.
        allow_trailing_comma: accept a trailing comma in the outermost object.
        allow_runtime_json: accept all JSON that a runtime writes into events and state: any key,
            any integer, NULs, and the depth of the deepest event.

    Raises:
        Unprocessable: a value can't be stored; the error names its place. Only with
            `allow_runtime_json`.
        UnsupportedMedia: the body is compressed, or declared as something other than JSON.
        TooLarge: the body exceeds `limit`.
        BadRequest: the body is not JSON, or JSON that we don't accept; the message says which.
    """
    _require_media(request, "application/json")
    body = await _read(request, limit)
    if not body and empty is not _REQUIRED:
        return empty
    if allow_trailing_comma:
        body = _without_trailing_comma(body)
    if len(body) > _OFF_LOOP:
        value = await asyncio.to_thread(parse_json, body, allow_runtime_json=allow_runtime_json)
    else:
        value = parse_json(body, allow_runtime_json=allow_runtime_json)
    return _with_names(request, body, value)


async def read_form(request: Request, limit: int = BODY_LIMIT) -> FormData:
    """Return the fields of an urlencoded form.

    Raises:
        UnsupportedMedia: the body is compressed or not an urlencoded form.
        TooLarge: the body exceeds `limit`.
        BadRequest: it has too many fields, is not UTF-8 or contains a NUL.
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
        UnsupportedMedia: the body is compressed or not such a form.
        TooLarge: the body exceeds `limit`, or a field exceeds `BODY_LIMIT`.
        BadRequest: the form can't be parsed, or contains a NUL outside its files.
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


def parse_json(body: bytes, *, allow_runtime_json: bool = False) -> Json:
    """Return the value of a JSON text under the rules of this module; options as above.

    Raises:
        BadRequest: it is not JSON, or JSON that we don't accept.
        Unprocessable: a value can't be stored; the error names its place. Only with
            `allow_runtime_json`.
    """
    text = _decode(body)
    _check_depth(text, allow_runtime_json=allow_runtime_json)
    try:
        value: Json = (_RUNTIME_DECODER if allow_runtime_json else _DECODER).decode(text)
    except _UnrepresentableNumber:
        _require_kept(_LOOKING.decode(text), ["body"])
        raise
    except json.JSONDecodeError as error:
        raise BadRequest(
            f"invalid JSON: {error.msg} at line {error.lineno} column {error.colno}"
        ) from error
    if "\\u" in text:
        if allow_runtime_json:
            _require_kept(value, ["body"])
        else:
            _check_text(value)
    return value


def parse_typed(text: str) -> Json:
    """Return the value of JSON in a form field, under the rules for what a runtime writes.

    Raises BadRequest with a message for that field.
    """
    try:
        return parse_json(text.encode(), allow_runtime_json=True)
    except Unprocessable as error:
        raise BadRequest(str(error)) from error


def parse_typed_or_text(text: str) -> Json:
    """Return the value of JSON in a form field, or the text if it isn't meant as JSON.

    Raises BadRequest if it starts like JSON but isn't: that is a typo.
    """
    try:
        return parse_typed(text)
    except BadRequest:
        if text.lstrip().startswith(_LIKE_JSON):
            raise
        return text


def _without_trailing_comma(body: bytes) -> bytes:
    """Remove a trailing comma before the body's last brace; valid JSON has none there."""
    inside = body.rstrip().removesuffix(b"}").rstrip()
    return inside[:-1] + b"}" if inside.endswith(b",") and body.rstrip().endswith(b"}") else body


def _with_names(request: Request, body: bytes, value: Value) -> Value:
    """Return the value with the body's pseudonyms replaced by their names."""
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


def _check_depth(text: str, *, allow_runtime_json: bool) -> None:
    depth, most = 0, MAX_RUNTIME_DEPTH if allow_runtime_json else MAX_DEPTH
    for match in _BRACKET.finditer(text):
        mark = match[0]
        if mark in "[{":
            depth += 1
            if depth > most:
                where = f"line {text.count(chr(10), 0, match.start()) + 1}"
                message = f"the JSON is nested deeper than {most} levels, at {where}"
                misfit = _misfit("too_deep", ["body"], message)
                raise misfit if allow_runtime_json else BadRequest(message)
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


class _UnrepresentableNumber(BadRequest):
    """A number that Python can't represent; `_LOOKING` puts the error in its place to locate it."""


def _any_integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:
        raise _UnrepresentableNumber(
            f"this whole number has {len(digits):,} digits, which is too many"
        ) from None


def _any_number(digits: str) -> float:
    number = float(digits)
    if math.isfinite(number):
        return number
    raise _UnrepresentableNumber(f"the number {digits[:20]} is too large")


def _error_instead(read: Callable[[str], float]) -> Callable[[str], Any]:
    """Wrap a number parser so that it returns the error for a number that can't be represented."""

    def reading(digits: str) -> Any:
        try:
            return read(digits)
        except _UnrepresentableNumber as error:
            return error

    return reading


def _constant(name: str) -> float:
    raise BadRequest(f"the JSON has {name}, which isn't valid JSON")


def _check_text(value: Json) -> None:
    """Refuse NULs and lone surrogates, which only escapes can produce."""
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
    """Refuse lone surrogates and the errors that `_LOOKING` left; the error names the place."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            half = f"the lone surrogate {value[error.start]!r} at {error.start}"
            message = f"the text contains {half}: replace it"
            raise _misfit("string_unicode", place, message) from error
    elif isinstance(value, _UnrepresentableNumber):
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
    """Return a step of a place in a form that can be encoded in a response."""
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

_RUNTIME_DECODER: Final = json.JSONDecoder(
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
