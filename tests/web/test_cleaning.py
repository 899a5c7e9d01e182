"""Large answers are redacted off the event loop and stay in order (R18, R64)."""

import asyncio
import html
import json
import re
import threading
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Message

from devui.debugger.apps.apps import AppFolder
from devui.debugger.secrets.redaction import _STEP, Redactor, Secret
from devui.web.security.redaction import _PIECE, _SMALL, KnownSecrets, View, _pieces, _split

pytestmark = pytest.mark.req("R64")

SECRET = "tok-0'12\"3456789"
WIDEST = 300_000
"""How many characters one search may cover; they take it less than ten milliseconds."""


@pytest.fixture
def view(tmp_path: Path) -> View:
    (tmp_path / ".env").write_text(f"A_TOKEN='{SECRET}'".replace("0'", "0\\'"), encoding="utf-8")
    return KnownSecrets(AppFolder.at(tmp_path)).for_everybody


async def stream(view: View, kind: bytes, bodies: list[bytes]) -> tuple[list[bytes], list[int]]:
    """Return the pieces of an answer as they are sent, and the threads that redacted them."""
    out: list[bytes] = []
    threads: list[int] = []

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            out.append(message["body"])

    redacting = view.redacting(send)
    clean: Callable[[str], str] = view.json if kind.endswith(b"json") else view.page

    def noted(text: str) -> str:
        threads.append(threading.get_ident())
        return clean(text)

    await redacting(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]}
    )
    redacting._clean_text = noted
    for body in bodies:
        await redacting({"type": "http.response.body", "body": body, "more_body": True})
    return out, threads


@pytest.mark.parametrize(
    ("kind", "spell"),
    [
        (b"text/html", html.escape),
        (b"text/event-stream", html.escape),
        (b"application/json", json.dumps),
    ],
)
async def test_large_answers_are_redacted_off_the_loop_and_stay_in_order(
    view: View, kind: bytes, spell: Callable[[str], str]
) -> None:
    spelling = spell(f"It is {SECRET}")
    sizes = [10, 3 * _SMALL, 10, 12 * _SMALL, _SMALL - 1000]
    bodies = [f"<p>{n}</p>{'x' * size}{spelling}".encode() for n, size in enumerate(sizes)]
    out, threads = await stream(view, kind, bodies)
    clean = [each.replace(spelling.encode(), spell("It is [redacted]").encode()) for each in bodies]
    assert out == clean
    loop = threading.get_ident()
    assert [thread != loop for thread in threads] == [size > _SMALL for size in sizes]


async def test_the_loop_is_not_blocked_while_a_large_answer_is_redacted(view: View) -> None:
    """The loop lets the redaction finish, which would hang if it blocked the loop."""
    may_end = threading.Event()

    class Slow(View):
        def json(self, text: str) -> str:
            assert may_end.wait(60)
            return super().json(text)

    slow = Slow(view._known_secrets)
    asyncio.get_running_loop().call_later(0.01, may_end.set)
    out, _ = await stream(slow, b"application/json", [b'"' + b"x" * 2 * _SMALL + b'"'])
    assert len(out) == 1


class Recorded:
    """A pattern that records how many characters each search covers."""

    def __init__(self, pattern: "re.Pattern[str]", spans: list[int]) -> None:
        self._pattern, self._spans = pattern, spans

    def search(self, text: str, start: int, stop: int) -> Any:
        self._spans.append(min(stop, len(text)) - start)
        return self._pattern.search(text, start, stop)


def test_a_single_search_covers_little_of_a_large_text() -> None:
    """No other Python thread can run during one: see `sys.setswitchinterval`."""
    secrets = ["tok-0123456789", "'\"\\&<>%' '\"", "a'b\"c\\d&e<f>g", "😀é ß€'\"你 x"]
    redactor = Redactor([Secret(each, "a test") for each in secrets])
    spans: list[int] = []
    redactor._secrets = [k._replace(pattern=Recorded(k.pattern, spans)) for k in redactor._secrets]
    kinds = cycle([json.dumps, html.escape, repr, str])
    parts = ["tok-", "y" * 90_000, "<&>", "plain words "] * 40
    text = "".join(
        part + (next(kinds)(secrets[n % 4]) if n % 9 == 0 else "") for n, part in enumerate(parts)
    )
    assert len(text) > 3_500_000
    clean = redactor.text(text)
    assert clean.count("[redacted]") == len(range(0, len(parts), 9))
    assert len(spans) > 20
    assert max(spans) <= WIDEST
    assert max(secret.reach for secret in redactor._secrets) + _STEP < WIDEST


def test_texts_full_of_beginnings_of_keys_are_unchanged() -> None:
    """They would take long if the work for each beginning weren't bounded."""
    redactor = Redactor()
    for begun in ("sk-", "xoxb-", "sk-ant-", "-----BEGIN ", "://", "Bearer ", "gho_", "k_live_"):
        text = f"a preview… {begun * 20_000}"
        assert redactor.text(text) == text


def test_a_page_in_pieces_is_split_like_a_whole_one() -> None:
    page = "".join(
        f'<div title="{n} > {n}"><b>{"x" * (n % 700)}</b> a <i class="é">{n}</i></div>'
        for n in range(3000)
    )
    pieces = list(_pieces(page))
    assert "".join(pieces) == page
    assert len(pieces) > 3
    assert max(map(len, pieces)) < _PIECE + 2000
    assert "".join(_split(page)) == page
    assert all(re.fullmatch(r"</?(?:b|i)\b[^<>]*>", tag) for tag in _split(page)[1::2])
    assert not any(re.search(r"</?[bi]\b", text) for text in _split(page)[::2])
