"""The outermost layer: all requests and responses of all routes pass through it.

It asks the policy and, where the policy says so, answers in place of the application. It adds the
security headers to every response, including refusals and streams (R02 to R07, R13), and redacts
secrets (R64).

Range requests are served here, last, from the redacted response: a range of a text with a secret
is a range of the redacted text, and its byte positions and length are those of that text (R64).
"""

import logging
import re
from collections.abc import Callable, Mapping
from typing import Final

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from devui.web.lazy_modules import LazyModule
from devui.web.security.headers import RawHeaders, for_caller, secure_headers
from devui.web.security.login import Login
from devui.web.security.policy import Policy, Refusal, Verdict
from devui.web.security.redaction import VIEW, KnownSecrets
from devui.web.security.refusals import NOT_SIGNED_IN, Refusals

ACCEPTED: Final = (b"accept-ranges", b"bytes")
"""The header of a response that supports range requests."""

_RANGE: Final = re.compile(rb"bytes=(\d*)-(\d*)")


def for_range(scope: Scope, send: Send) -> Send:
    """Return a `send` that cuts the response to the range that the request asks for."""
    headers = dict(scope["headers"])
    match = _RANGE.fullmatch(headers.get(b"range", b"").strip())
    # No response has a validator, so If-Range never matches. A request for several ranges gets the
    # whole response, as RFC 9110 (14.2) allows: there is no good use for them, but a bad one.
    if match is None or scope["method"] != "GET" or b"if-range" in headers:
        return send
    return _DelayedResponse(send, match[1], match[2])


class _DelayedResponse:
    """Sends one response; its start is delayed until the body arrives."""

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
        """Return the requested range of `size` bytes, possibly empty; None if it is invalid."""
        if not self._first:
            return range(max(0, size - _number(self._last)), size) if self._last else None
        first, last = _number(self._first), _number(self._last) if self._last else None
        if last is None:
            return range(min(first, size), size)
        return range(min(first, size), min(last + 1, size)) if first <= last else None


_DIGITS: Final = 18
"""Numbers with more digits exceed any file's size; Python refuses to parse thousands of digits."""


def _number(digits: bytes) -> int:
    return int(digits.lstrip(b"0")[: _DIGITS + 1] or b"0")


def _whole_file(start: Message) -> bool:
    return start["status"] == 200 and ACCEPTED in start["headers"]


_log = logging.getLogger(__name__)
_app_of = LazyModule("devui.web.security.callers").call("app_of")


class Guard:
    """The ASGI middleware that judges each request and secures each response."""

    def __init__(
        self,
        app: ASGIApp,
        policy: Policy,
        login: Login,
        known_secrets: KnownSecrets | None = None,
        refusals: Refusals | None = None,
        groups: Callable[[], Mapping[int, str]] = dict,
    ) -> None:
        """`groups` returns the apps by the process groups that they run in."""
        self._app = app
        self._policy = policy
        self._login = login
        self._known_secrets = known_secrets
        self.refusals = refusals or Refusals()
        """The refused requests, by reason (R67)."""
        self._groups = groups

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
            if self._known_secrets and not cacheable:
                scope = await self._known_secrets.with_view(scope, self._policy.browser(scope))
                cut = scope[VIEW].redacting(cut)
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
