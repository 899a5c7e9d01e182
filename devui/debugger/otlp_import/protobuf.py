"""Decodes OTLP's protobuf into the dicts of OTLP's JSON, without a library.

It covers the few messages of a trace: opentelemetry/proto/collector/trace/v1/trace_service.proto
and its imports.
"""

import base64
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple


class BadProtobuf(ValueError):
    """The bytes aren't a valid message of that kind."""


class _Field(NamedTuple):
    name: str
    read: Callable[[Any, "_Budget"], Any]
    many: bool = False


_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SIZES: Final = {_FIXED64: 8, _FIXED32: 4}
_DEEPEST: Final = 64
_MOST: Final = 1_000_000
"""The maximum number of fields of a request."""


def _fields(data: memoryview) -> Iterator[tuple[int, int, Any]]:
    """Yield the fields in order, as number, wire type and raw value."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        wire = tag & 7
        value: int | memoryview
        if wire == _VARINT:
            value, at = _varint(data, at)
        elif wire == _BYTES:
            size, at = _varint(data, at)
            value, at = data[at : at + size], at + size
        elif wire in _SIZES:
            size = _SIZES[wire]
            value, at = data[at : at + size], at + size
        else:
            raise BadProtobuf(f"a field has the wire type {wire}")
        if at > len(data):
            raise BadProtobuf("the message ends in the middle of a field")
        yield tag >> 3, wire, value


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise BadProtobuf("a number is cut off or too long")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


@dataclass(slots=True)
class _Budget:
    """The limits of a request: the current depth, and how many more fields it may have."""

    depth: int = 0
    fields: int = _MOST


def _message(shape: dict[int, _Field]) -> Callable[[Any, _Budget], dict[str, Any]]:
    def read(data: Any, budget: _Budget) -> dict[str, Any]:
        if budget.depth > _DEEPEST:
            raise BadProtobuf(f"values are nested deeper than {_DEEPEST} levels")
        if not isinstance(data, memoryview):
            raise BadProtobuf("found a number, expected a message")
        members: dict[str, Any] = {}
        budget.depth += 1
        for number, _, value in _fields(data):
            budget.fields -= 1
            if budget.fields < 0:
                raise BadProtobuf(f"it has more than {_MOST:,} fields; send fewer spans at a time")
            field = shape.get(number)
            if field is None:
                continue
            member = field.read(value, budget)
            if field.many:
                members.setdefault(field.name, []).append(member)
            else:
                members[field.name] = member
        budget.depth -= 1
        return members

    return read


def _text(value: Any, _: _Budget) -> str:
    try:
        return str(_raw(value), "utf-8")
    except UnicodeDecodeError as error:
        raise BadProtobuf("a text is not UTF-8") from error


def _hex(value: Any, _: _Budget) -> str:
    return _raw(value).hex()


def _base64(value: Any, _: _Budget) -> str:
    return base64.b64encode(_raw(value)).decode()


def _raw(value: Any) -> memoryview:
    if not isinstance(value, memoryview):
        raise BadProtobuf("found a number, expected bytes")
    return value


def _whole(value: Any, _: _Budget) -> int:
    if not isinstance(value, int):
        raise BadProtobuf("found bytes, expected a number")
    return value - (1 << 64) if value >= 1 << 63 else value


def _bool(value: Any, budget: _Budget) -> bool:
    return bool(_whole(value, budget))


def _fixed_width(code: str) -> Callable[[Any, _Budget], Any]:
    def read(value: Any, _: _Budget) -> Any:
        try:
            return struct.unpack(f"<{code}", _raw(value))[0]
        except struct.error as error:
            raise BadProtobuf("a number has the wrong size") from error

    return read


_VALUE: dict[int, _Field] = {}
_read_value = _message(_VALUE)
_PAIR = {1: _Field("key", _text), 2: _Field("value", _read_value)}
_ATTRIBUTE = _message(_PAIR)
_VALUE |= {
    1: _Field("stringValue", _text),
    2: _Field("boolValue", _bool),
    3: _Field("intValue", _whole),
    4: _Field("doubleValue", _fixed_width("d")),
    5: _Field("arrayValue", _message({1: _Field("values", _read_value, many=True)})),
    6: _Field("kvlistValue", _message({1: _Field("values", _ATTRIBUTE, many=True)})),
    7: _Field("bytesValue", _base64),
}
_EVENT = {
    1: _Field("timeUnixNano", _fixed_width("Q")),
    2: _Field("name", _text),
    3: _Field("attributes", _ATTRIBUTE, many=True),
}
_SPAN = {
    1: _Field("traceId", _hex),
    2: _Field("spanId", _hex),
    4: _Field("parentSpanId", _hex),
    5: _Field("name", _text),
    7: _Field("startTimeUnixNano", _fixed_width("Q")),
    8: _Field("endTimeUnixNano", _fixed_width("Q")),
    9: _Field("attributes", _ATTRIBUTE, many=True),
    11: _Field("events", _message(_EVENT), many=True),
    15: _Field("status", _message({2: _Field("message", _text), 3: _Field("code", _whole)})),
}
_RESOURCE = {
    1: _Field("resource", _message({1: _Field("attributes", _ATTRIBUTE, many=True)})),
    2: _Field(
        "scopeSpans",
        _message({2: _Field("spans", _message(_SPAN), many=True)}),
        many=True,
    ),
}
_read_request = _message({1: _Field("resourceSpans", _message(_RESOURCE), many=True)})


def decode_request(data: bytes) -> dict[str, Any]:
    """Decode an export request into OTLP's JSON form. Raises BadProtobuf."""
    return _read_request(memoryview(data), _Budget())


def encoded_answer(rejected: int, why: str) -> bytes:
    """Encode the answer to an export request; it is empty if all spans were accepted."""
    if not rejected:
        return b""
    partial = b"\x08" + _varint_bytes(rejected) + _written_text(2, why)
    return b"\x0a" + _varint_bytes(len(partial)) + partial


def encoded_status(code: int, message: str) -> bytes:
    """Encode an error as a google.rpc.Status."""
    return b"\x08" + _varint_bytes(code) + _written_text(2, message)


def _written_text(number: int, text: str) -> bytes:
    data = text.encode()
    return bytes([number << 3 | _BYTES]) + _varint_bytes(len(data)) + data


def _varint_bytes(number: int) -> bytes:
    output = b""
    while number >= 0x80:
        output += bytes([number & 0x7F | 0x80])
        number >>= 7
    return output + bytes([number])
