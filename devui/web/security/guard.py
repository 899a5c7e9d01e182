"""The outermost layer: every request of every route passes it, and so does every response.

It asks the policy, answers in place of the application where the policy says so, and puts the
security headers on whatever goes out, refusals and streams included (R02 to R07, R13), and takes
the secrets out of it (R64).
"""

import logging
from collections.abc import Callable, Mapping

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from devui.web.later import Later
from devui.web.ranges import ranged
from devui.web.security.headers import guarded
from devui.web.security.login import Login
from devui.web.security.policy import Policy, Refusal, Verdict
from devui.web.security.refusals import NOT_SIGNED_IN, Refusals
from devui.web.security.veil import Veil

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
        else:
            # No route takes one; a transport that nobody checked must not slip through.
            self.refusals.count("websocket")
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        cacheable = scope["path"].startswith(self._policy.open_prefix)

        async def dress(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = guarded(message.get("headers", ()), cacheable=cacheable)
                message = {**message, "headers": headers}
            await send(message)

        verdict = self._policy.judge(scope)
        if verdict is Verdict.PASS:
            cut = ranged(scope, dress)
            out = self._veil.cover(cut) if self._veil and not cacheable else cut
            await self._app(self._veil.meant(scope) if self._veil else scope, receive, out)
        else:
            await self._answer(scope, verdict)(scope, receive, dress)

    def _answer(self, scope: Scope, verdict: Verdict | Refusal) -> Response:
        if isinstance(verdict, Refusal):
            self._count(scope, verdict.reason)
            return PlainTextResponse(verdict.reason, verdict.status)
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

        self.refusals.count(reason, program=not browser, app=app)
        _log.info("refused %s %r: %s", scope["method"], scope["path"], reason)
