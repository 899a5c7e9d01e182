"""Reading and checking request bodies."""

import contextlib
import json
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from devui.web.errors import BadRequest, EdgeError, TooLarge, UnsupportedMedia
from devui.web.security.intake import (
    MAX_DEPTH,
    MAX_FIELDS,
    MAX_KEY,
    parse_json,
    read_form,
    read_json,
)

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


def request(chunks: Iterable[bytes], **headers: str) -> Request:
    """Return a request whose body arrives in these chunks."""
    waiting = iter([*chunks, None])

    async def receive() -> dict[str, Any]:
        chunk = next(waiting)
        if chunk is None:
            return {"type": "http.request", "body": b"", "more_body": False}
        return {"type": "http.request", "body": chunk, "more_body": True}

    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "POST", "headers": raw}, receive)


NESTED = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
GOOD: list[tuple[bytes, Any]] = [
    (b'{"a": [1, 2.5, true, null, "x"]}', {"a": [1, 2.5, True, None, "x"]}),
    (b"9223372036854775807", 2**63 - 1),
    (b"-9223372036854775808", -(2**63)),
    (b'"\\ud83d\\ude00\\n"', "😀\n"),
    (b'{"' + b"k" * MAX_KEY + b'": 1}', {"k" * MAX_KEY: 1}),
    (b'"[[[[{{{{"', "[[[[{{{{"),
    (b'[{"a": 1}, {"a": 1}]', [{"a": 1}, {"a": 1}]),
    (b"1e308", 1e308),
    (b'{"__proto__": 1}', {"__proto__": 1}),
]
BAD: list[tuple[bytes, str]] = [
    (b"", "invalid JSON"),
    (b"{", "invalid JSON: .* at line 1 column 2"),
    (b"[1,]", "invalid JSON"),
    (b"{} {}", "invalid JSON"),
    (b"\xef\xbb\xbf{}", "invalid JSON"),
    (b'{"a": NaN}', "NaN"),
    (b"-Infinity", "-Infinity"),
    (b"1e999", "too large"),
    (b"9223372036854775808", "64 bits"),
    (b"-9223372036854775809", "64 bits"),
    (b"1" * 5000, "64 bits"),
    (b'{"a": 1, "a": 2}', "key 'a' twice"),
    (b'{"a": 1, "\\u0061": 2}', "key 'a' twice"),
    (b'{"' + b"k" * (MAX_KEY + 1) + b'": 1}', "key longer"),
    (b"[" + NESTED + b"]", "deeper"),
    (b"[" * 100_000, "deeper"),
    (b'{"a":' * 100_000, "deeper"),
    (b'"\\u0000"', "NUL"),
    (b'{"\\u0000": 1}', "NUL"),
    (b'"\x00"', "invalid JSON"),
    (b'"\\ud800"', "surrogate"),
    (b'["\\udc00\\ud800"]', "surrogate"),
    (b'{"a": {"\\ud800": 1}}', "surrogate"),
    (b'"\xff"', "UTF-8"),
    (b'"\xed\xa0\x80"', "UTF-8"),
]


@pytest.mark.req("R26")
@pytest.mark.parametrize(("body", "value"), GOOD)
def test_json_is_read(body: bytes, value: Any) -> None:
    assert parse_json(body) == value


@pytest.mark.req("R26")
def test_nesting_up_to_the_limit_is_read() -> None:
    assert json.dumps(parse_json(NESTED)).encode() == NESTED


@pytest.mark.req("R26")
@pytest.mark.parametrize(("body", "reason"), BAD, ids=lambda value: repr(value)[:40])
def test_json_that_would_cause_errors_later_is_refused_with_a_reason(
    body: bytes, reason: str
) -> None:
    with pytest.raises(BadRequest, match=reason):
        parse_json(body)


@pytest.mark.req("R26")
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_parsed_or_refused(body: bytes) -> None:
    with contextlib.suppress(BadRequest):
        parse_json(body)


FINITE = st.floats(allow_nan=False, allow_infinity=False)
INTEGERS = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"))
VALUES = st.recursive(
    st.none() | st.booleans() | INTEGERS | FINITE | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT.filter(lambda k: len(k) < 257), inner),
    max_leaves=20,
)


@pytest.mark.req("R26")
@given(VALUES, st.booleans())
def test_every_plain_value_round_trips(value: Any, ascii_only: bool) -> None:
    assert parse_json(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@pytest.mark.req("R26")
@pytest.mark.parametrize("unit", [b'"\\"', b"\\", b'"', b"[]", b"{}", b'"a",', b'"\\u0041",'])
def test_long_hostile_text_is_refused(unit: bytes) -> None:
    with pytest.raises(BadRequest):
        parse_json(unit * (1_000_000 // len(unit)))


@pytest.mark.req("R26")
async def test_a_body_is_accepted_up_to_the_limit() -> None:
    body = b'"' + b"x" * 98 + b'"'
    assert await read_json(request([body[:50], body[50:]]), limit=100) == "x" * 98
    with pytest.raises(TooLarge):
        await read_json(request([body, b" "]), limit=100)


@pytest.mark.req("R26")
@pytest.mark.parametrize("declared", ["101", "1" * 50, "99999999999999999999"])
async def test_a_declared_length_above_the_limit_is_refused_unread(declared: str) -> None:
    with pytest.raises(TooLarge):
        await read_json(request([b"{}"], content_length=declared), limit=100)


@pytest.mark.req("R26")
async def test_reading_an_endless_body_stops_at_the_limit() -> None:
    count = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal count
        while True:
            count += 1
            yield b"x" * 1000

    chunks = endless()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": await anext(chunks), "more_body": True}

    flood = Request({"type": "http", "method": "POST", "headers": []}, receive)
    with pytest.raises(TooLarge):
        await read_json(flood, limit=10_000)
    assert count == 11


@pytest.mark.req("R28")
@pytest.mark.req("R26")
async def test_compressed_bodies_are_refused() -> None:
    with pytest.raises(UnsupportedMedia, match="compressed"):
        await read_json(request([b"\x1f\x8b"], content_encoding="gzip"))
    assert await read_json(request([b"{}"], content_encoding="identity")) == {}


@pytest.mark.parametrize(
    ("media", "taken"),
    [(JSON, True), ("Application/JSON; charset=utf-8", True), ("text/plain", False), (FORM, False)],
)
async def test_only_json_is_read_as_json(media: str, taken: bool) -> None:
    try:
        assert await read_json(request([b"{}"], content_type=media)) == {}
    except UnsupportedMedia:
        assert not taken
    else:
        assert taken


async def test_an_empty_body_is_an_error_unless_a_value_is_given_for_it() -> None:
    assert await read_json(request([]), empty=None) is None
    assert await read_json(request([]), empty={"a": 1}) == {"a": 1}
    with pytest.raises(BadRequest):
        await read_json(request([]))


async def test_a_large_body_is_parsed_like_a_small_one() -> None:
    value = {"a": ["x" * 1000] * 200}
    assert await read_json(request([json.dumps(value).encode()])) == value
    with pytest.raises(BadRequest):
        await read_json(request([json.dumps(value).encode() + b"]"]))


async def test_a_form_is_read() -> None:
    form = await read_form(request([b"a=1&b=%C3%A9+%F0%9F%98%80&c=&a=2"], content_type=FORM))
    assert form.multi_items() == [("a", "1"), ("b", "é 😀"), ("c", ""), ("a", "2")]


@pytest.mark.req("R26")
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"a=%ff", BadRequest),
        (b"a=\xff", BadRequest),
        (b"a=%00", BadRequest),
        (b"a\x00=1", BadRequest),
        (b"a=%ed%a0%80", BadRequest),
        (b"&".join([b"a=1"] * (MAX_FIELDS + 1)), BadRequest),
        (b"a=" + b"x" * 1_000_000, TooLarge),
    ],
    ids=lambda value: repr(value)[:30],
)
async def test_a_form_that_would_cause_errors_later_is_refused(
    body: bytes, reason: type[EdgeError]
) -> None:
    with pytest.raises(reason):
        await read_form(request([body], content_type=FORM))


async def test_json_is_not_read_as_a_form() -> None:
    with pytest.raises(UnsupportedMedia):
        await read_form(request([b"{}"], content_type=JSON))
