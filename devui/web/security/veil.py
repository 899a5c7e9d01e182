"""Keeps secrets out of every answer: pages, JSON, streams, texts, whatever their route (R64).

It works on what goes out, in the spelling of each format, so that no route can forget it. The
static files are ours and pass; so does an export that was asked for with its secrets.
"""

import html
import json
import re
import time
from collections.abc import Iterator
from itertools import chain, zip_longest
from pathlib import Path
from typing import Final
from urllib.parse import quote

from starlette.types import Message, Scope, Send

from devui.debugger.redaction import SHORTEST, Redactor, Secret, in_base64
from devui.debugger.secretvalues import credentials_in, secrets_of
from devui.debugger.summary import CREDENTIAL
from devui.store.values import responses_in
from devui.web.later import Later
from devui.web.security.headers import RawHeaders
from devui.web.security.intake import NAMES
from devui.web.security.standins import StandIns

REVEALED: Final = b"x-devui-revealed"
"""A header of answers whose secrets somebody asked for; it does not go out."""

GIVEN: Final = 64
"""Credentials that people gave which are looked for; more would cost each answer more."""

_TEXTS: Final = (b"text/", b"application/json", b"application/octet-stream")
_ADDRESSES: Final = frozenset({b"location", b"hx-location", b"hx-redirect", b"hx-push-url"})
_WORD: Final = re.compile(r"[A-Za-z]{1,15}")
"""What may be a word of our own pages and answers, or of everybody."""
_INLINE: Final = re.compile(r"(</?(?:a|b|code|del|em|i|ins|mark|s|span|strong|wbr)\b[^<>]*>)")
"""Tags between which a word goes on, as in coloured code, emphasis and differences."""
_EATEN: Final = re.compile(r"[*`~]")
"""What markdown takes for emphasis and code."""
_SECONDS: Final = 2.0
"""For so long a change of a `.env` file may go unnoticed."""

_is_ours: Final = Later("devui.web.security.ownwords").call("is_ours")


class Veil:
    """Knows the secrets of one folder of agents, and what people gave them, as they are now."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._given: dict[str, Secret] = {}
        self._looked = float("-inf")
        self._secrets: list[Secret] = []
        self._redactor = Redactor()
        self._stand_ins = StandIns()

    def hear(self, data: str) -> None:
        """Know the credentials in the JSON of an event of a user (docs/decisions/0014)."""
        if CREDENTIAL not in data:
            return
        for secret in credentials_in(responses_in(data, CREDENTIAL)):
            if len(secret.text) >= SHORTEST:
                self._given.pop(secret.text, None)
                self._given[secret.text] = secret
        for oldest in list(self._given)[:-GIVEN]:
            del self._given[oldest]
        self._looked = float("-inf")

    def page(self, text: str) -> str:
        """HTML without secrets, whose addresses still lead to what they name."""
        parts = _INLINE.split(text)
        everything = "\n".join(("".join(parts[::2]), *set(parts[1::2])))
        if self.text(everything) == everything:
            return text
        text = self._redactor.text(self._stand_ins.page(text, self._redactor))
        return self._across(text)

    def _across(self, page: str) -> str:
        """A page without the secrets that tags split."""
        parts = _INLINE.split(page)
        texts = self._redactor.pieces(parts[::2])
        pairs = zip_longest(texts, parts[1::2], fillvalue="")
        return "".join(chain.from_iterable(pairs))

    def address(self, address: str) -> str:
        """An address without secrets that still leads to what it names."""
        return self._stand_ins.address(address, self._redactor)

    def meant(self, scope: Scope) -> Scope:
        """A request as it was meant, if its address has come from here; its body is yet to come."""
        return {**self._stand_ins.back(scope), NAMES: self._stand_ins.meant}

    def json(self, text: str) -> str:
        """JSON without secrets, whose names may still be sent back."""
        clean = self.text(text)
        if clean == text:
            return text
        return self._redactor.text(self._stand_ins.json(text, self._redactor))

    def text(self, text: str) -> str:
        """The text without secrets, however they are spelled in it."""
        return self.redactor().text(text)

    def data(self, data: bytes) -> bytes:
        """A file that is no text, without the secrets that are known by their value."""
        return self.redactor().data(data)

    def growing(self, text: str) -> str:
        """The text of an answer that is being streamed, as far as it can be told."""
        return self.redactor().growing(text)

    def redactor(self) -> Redactor:
        """What takes the secrets out, as they are now."""
        now = time.monotonic()
        if now - self._looked > _SECONDS:
            self._looked = now
            self._look()
        return self._redactor

    def cover(self, send: Send) -> "Covered":
        """What an answer is sent through."""
        return Covered(self, send)

    def _look(self) -> None:
        every = [*secrets_of(self._folder), *self._given.values()]
        known = [each for each in every if not (_WORD.fullmatch(each.text) and _is_ours(each.text))]
        if known != self._secrets:
            self._secrets = known
            self._redactor = Redactor(
                Secret(spelling, each.kind) for each in known for spelling in _spellings(each.text)
            )


class Covered:
    """One answer on its way out; its beginning waits until its length is known."""

    def __init__(self, veil: Veil, send: Send) -> None:
        self._veil = veil
        self._send = send
        self._start: Message | None = None
        self._through = False
        self._clean_text = veil.text

    async def __call__(self, message: Message) -> None:
        """Send a message of ASGI."""
        if message["type"] == "http.response.start":
            headers: RawHeaders = [(k.lower(), v) for k, v in message.get("headers", ())]
            self._through = not _covers(headers)
            kind = _type(headers)
            if kind.startswith((b"text/html", b"text/event-stream")):
                self._clean_text = self._veil.page
            elif kind.startswith(b"application/json"):
                self._clean_text = self._veil.json
            kept = [self._header(*pair) for pair in headers if pair[0] != REVEALED]
            self._start = {**message, "headers": kept}
            return
        body: bytes = message.get("body", b"")
        clean = body if self._through else self._clean(body)
        if self._start is not None:
            start, self._start = self._start, None
            await self._send(_measured(start, body, clean, more=message.get("more_body", False)))
        await self._send({**message, "body": clean})

    def _header(self, name: bytes, value: bytes) -> tuple[bytes, bytes]:
        if name not in _ADDRESSES:
            return name, value
        return name, self._veil.address(value.decode("latin-1")).encode("latin-1")

    def _clean(self, body: bytes) -> bytes:
        try:
            text = body.decode()
        except UnicodeDecodeError:
            return self._veil.data(body)
        clean = self._clean_text(text)
        return body if clean == text else clean.encode()


def _covers(headers: RawHeaders) -> bool:
    known = dict(headers)
    if REVEALED in known or b"content-encoding" in known:
        return False
    return _type(headers).startswith(_TEXTS)


def _type(headers: RawHeaders) -> bytes:
    return dict(headers).get(b"content-type", b"").lower()


def _measured(start: Message, body: bytes, clean: bytes, *, more: bool) -> Message:
    """The beginning with a length that holds."""
    if len(clean) == len(body) and not more:
        return start
    headers = [pair for pair in start["headers"] if pair[0] != b"content-length" or not body]
    if not more:
        headers.append((b"content-length", str(len(clean)).encode()))
    return {**start, "headers": headers}


def _spellings(text: str) -> Iterator[str]:
    """The text as it stands in HTML, JSON, addresses, base64 and rendered markdown."""
    ascii_json, plain_json = json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]
    jinja = html.escape(text).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")
    within = (html.escape(each).replace("&quot;", "&#34;") for each in (ascii_json, plain_json))
    yield from dict.fromkeys(
        (text, jinja, html.escape(text), html.escape(text, quote=False), ascii_json, plain_json)
    )
    shown = html.escape(_EATEN.sub("", text))
    yield from dict.fromkeys(
        (
            *within,
            *[shown][: len(shown) >= SHORTEST],
            quote(text),
            quote(text, safe=""),
            *in_base64(text),
        )
    )
