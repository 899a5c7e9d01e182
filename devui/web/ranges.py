"""A part of a file, where one is asked for (RFC 9110, 14).

It is cut from what goes out, after everything else had its say: a part of a text with a secret in
it is a part of that text without the secret, and its numbers are those of what can be had (R64).
"""

import re
from typing import Final

from starlette.types import Message, Scope, Send

from devui.web.security.headers import RawHeaders

ACCEPTED: Final = (b"accept-ranges", b"bytes")
"""The header of an answer of which parts can be had."""

_ASKED: Final = re.compile(rb"bytes=(\d*)-(\d*)")


def ranged(scope: Scope, send: Send) -> Send:
    """Where an answer is sent that is cut to what the request asks for."""
    headers = dict(scope["headers"])
    asked = _ASKED.fullmatch(headers.get(b"range", b"").strip())
    # No answer has a validator, so none is the one that If-Range speaks of. Of several ranges the
    # whole may be served: there is no good use for them, and a bad one (14.2).
    if asked is None or scope["method"] != "GET" or b"if-range" in headers:
        return send
    return _Cut(send, asked[1], asked[2])


class _Cut:
    """One answer on its way out; its beginning waits for the body."""

    def __init__(self, send: Send, first: bytes, last: bytes) -> None:
        self._send = send
        self._first, self._last = first, last
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _whole_file(message):
            self._start = message
            return
        if self._start is not None:
            start, self._start = self._start, None
            start, message = self._cut(start, message)
            await self._send(start)
        await self._send(message)

    def _cut(self, start: Message, message: Message) -> tuple[Message, Message]:
        body: bytes = message.get("body", b"")
        part = self._part(len(body))
        if message.get("more_body") or part is None:
            return start, message
        size, body = len(body), body[part.start : part.stop]
        status, told = (206, f"{part.start}-{part.stop - 1}") if body else (416, "*")
        kept: RawHeaders = [pair for pair in start["headers"] if pair[0] != b"content-length"]
        kept.append((b"content-length", str(len(body)).encode()))
        kept.append((b"content-range", f"bytes {told}/{size}".encode()))
        return {**start, "status": status, "headers": kept}, {**message, "body": body}

    def _part(self, size: int) -> range | None:
        """What is asked for of so many bytes, perhaps nothing; None if that is no range."""
        if not self._first:
            return range(max(0, size - _number(self._last)), size) if self._last else None
        first, last = _number(self._first), _number(self._last) if self._last else None
        if last is None:
            return range(min(first, size), size)
        return range(min(first, size), min(last + 1, size)) if first <= last else None


_DIGITS: Final = 18
"""What has more is beyond every file; Python refuses to read thousands."""


def _number(digits: bytes) -> int:
    return int(digits.lstrip(b"0")[: _DIGITS + 1] or b"0")


def _whole_file(start: Message) -> bool:
    return start["status"] == 200 and ACCEPTED in start["headers"]
