"""The outermost layer: every request of every route passes it, and so does every response.

It asks the policy, answers in place of the application where the policy says so, and puts the
security headers on whatever goes out, refusals and streams included (R02 to R07, R13), and takes
the secrets out of it (R64).

It is cut from what goes out, after everything else had its say: a part of a text with a secret in
it is a part of that text without the secret, and its numbers are those of what can be had (R64).
"""

import logging
import re
from collections.abc import Callable, Mapping
from typing import Final

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from devui.web.later import Later
from devui.web.security.headers import RawHeaders, for_caller, secure_headers
from devui.web.security.login import Login
from devui.web.security.policy import Policy, Refusal, Verdict
from devui.web.security.refusals import NOT_SIGNED_IN, Refusals
from devui.web.security.veil import VIEW, Veil

ACCEPTED: Final = (b"accept-ranges", b"bytes")
"""The header of an answer of which parts can be had."""

_RANGE: Final = re.compile(rb"bytes=(\d*)-(\d*)")


def for_range(scope: Scope, send: Send) -> Send:
    """Where an answer is sent that is cut to what the request asks for."""
    headers = dict(scope["headers"])
    match = _RANGE.fullmatch(headers.get(b"range", b"").strip())
    # No answer has a validator, so none is the one that If-Range speaks of. Of several ranges the
    # whole may be served: there is no good use for them, and a bad one (14.2).
    if match is None or scope["method"] != "GET" or b"if-range" in headers:
        return send
    return _Cut(send, match[1], match[2])


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
        status, range_text = (206, f"{part.start}-{part.stop - 1}") if body else (416, "*")
        headers: RawHeaders = [pair for pair in start["headers"] if pair[0] != b"content-length"]
        headers.append((b"content-length", str(len(body)).encode()))
        headers.append((b"content-range", f"bytes {range_text}/{size}".encode()))
        return {**start, "status": status, "headers": headers}, {**message, "body": body}

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


_log = logging.getLogger(__name__)
_app_of = Later("devui.web.security.callers").call("app_of")


class Guard:
    """The middleware."""

    def __init__(
        self,
        app: ASGIApp,
        policy: Policy,
        login: Login,
        veil: Veil | None = None,
        refusals: Refusals | None = None,
        groups: Callable[[], Mapping[int, str]] = dict,
    ) -> None:
        """`groups` tells the apps by the process groups that they run in."""
        self._app = app
        self._policy = policy
        self._login = login
        self._veil = veil
        self.refusals = refusals or Refusals()
        """What was refused, by its reasons (R67)."""
        self._groups = groups

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection of the ASGI server."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        elif self._policy.judge({**scope, "method": "GET"}) is Verdict.PASS:
            await self._app(scope, receive, send)
        else:
            self.refusals.count("websocket")
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        cacheable = scope["path"].startswith(self._policy.open_prefix)
        caller = self._policy.caller(scope["headers"])
        cors = for_caller(caller, scope["headers"]) if caller else None

        async def dress(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = secure_headers(message.get("headers", ()), cacheable=cacheable, cors=cors)
                message = {**message, "headers": headers}
            await send(message)

        verdict = self._policy.judge(scope)
        if verdict is Verdict.PASS:
            cut: Send = for_range(scope, dress)
            if self._veil and not cacheable:
                scope = await self._veil.meet(scope, self._policy.browser(scope))
                cut = scope[VIEW].cover(cut)
            await self._app(scope, receive, cut)
        else:
            await self._answer(scope, verdict)(scope, receive, dress)

    def _answer(self, scope: Scope, verdict: Verdict | Refusal) -> Response:
        if isinstance(verdict, Refusal):
            self._count(scope, verdict.reason)
            return PlainTextResponse(verdict.reason, verdict.status)
        if verdict is Verdict.PREFLIGHT:
            return Response(status_code=204)
        if verdict is Verdict.ARRIVE:
            return self._login.arrival()
        self._count(scope, NOT_SIGNED_IN)
        return self._login.refusal(scope)

    def _count(self, scope: Scope, reason: str) -> None:
        browser = any(name == b"sec-fetch-site" for name, _ in scope["headers"])

        def app() -> str | None:
            near, far = scope.get("client"), scope.get("server")
            if not (near and far):
                return None
            name: str | None = _app_of(near[1], far[1], self._groups())
            return name

        method, path = scope["method"], scope["path"]
        self.refusals.count(reason, method=method, path=path, program=not browser, app=app)
        _log.info("refused %s %r: %s", method, path, reason)
