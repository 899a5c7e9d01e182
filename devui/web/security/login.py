"""Signing in a browser: the one-time link, the token form, and the pages around them (R08).

The command prints `/login?code=…`. The code works once, within ten minutes. It is exchanged for a
cookie, with a redirect to a fixed address, so that it stays in no history entry and no log.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

from starlette.datastructures import URL, Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import Scope

from devui.web.error_pages import ErrorNotice
from devui.web.htmx import HtmxRequest, keep_url
from devui.web.render import Renderer
from devui.web.security.intake import read_form
from devui.web.security.policy import Policy
from devui.web.security.refusals import OLD_LINK, WRONG_TOKEN

LOGIN_PATH: Final = "/login"

_HOME: Final = "/"
_FORM_LIMIT: Final = 4096
_LOCAL: Final = re.compile(r"/(?![/\\])[!-\[\]-~]{0,2000}")
"""A path and query, in ASCII and without backslashes, which browsers read as slashes."""
_SIGN_IN: Final = "Sign in first: open the link that devui printed, or send the bearer token."
_PROBLEMS: Final = {
    OLD_LINK: "This link was already used or is more than ten minutes old.",
    WRONG_TOKEN: "That isn't this server's access token.",
}


@dataclass(frozen=True, slots=True)
class LoginPage:
    """The sign-in page."""

    template: ClassVar[str] = "pages/login.html"

    problem: str | None
    """Why the last attempt failed, if it did."""
    goal: str = _HOME
    """The page to open after signing in."""


@dataclass(frozen=True, slots=True)
class ArrivalPage:
    """A page that only reloads itself: the response to a link from another site."""

    template: ClassVar[str] = "pages/arrival.html"


class Login:
    """The two routes of `/login`, and the responses that the guard sends on its behalf."""

    def __init__(
        self, policy: Policy, renderer: Renderer, count: Callable[[str], object] = str
    ) -> None:
        """`count` is called with the reason for each failed sign-in (R67)."""
        self._count = count
        self._policy = policy
        self._renderer = renderer

    async def show(self, request: Request) -> Response:
        """`GET /login`: exchange the code of a printed link, or show the form."""
        access, code = self._policy.access, request.query_params.get("code")
        # HEAD requests and prefetching must not use up the code.
        ahead = request.method != "GET" or "prefetch" in request.headers.get("sec-purpose", "")
        if access is None:
            return RedirectResponse(_HOME, 303)
        if self._policy.signed_in(request.scope):
            if code is not None and not ahead:
                access.use_up(code)  # so that nobody can use the link later
            return RedirectResponse(_HOME, 303)
        if code is None:
            return self._page(None, 200)
        if ahead:
            return self._page(None, 503)
        return self._welcome(request, access.redeem(code), OLD_LINK)

    async def submit(self, request: Request) -> Response:
        """`POST /login`: sign in with the token pasted into the form."""
        access = self._policy.access
        if access is None:
            return RedirectResponse(_HOME, 303)
        form = await read_form(request, limit=_FORM_LIMIT)
        token, goal = form.get("token"), _local(form.get("goal"))
        secret = access.sign_in(token.strip()) if isinstance(token, str) else None
        return self._welcome(request, secret, WRONG_TOKEN, goal)

    def arrival(self) -> Response:
        """Answer a link from another site: the first request comes without the Strict cookie."""
        return self._renderer.page(ArrivalPage())

    def refusal(self, scope: Scope) -> Response:
        """Answer a request without a sign-in, in the format that its sender expects."""
        headers = Headers(scope=scope)
        if HtmxRequest.read(headers):
            notice = ErrorNotice("Signed out", _SIGN_IN, None)
            return self._renderer.page(notice, status=401, headers=keep_url())
        if scope["method"] in {"GET", "HEAD"} and "text/html" in headers.get("accept", ""):
            return self._page(
                None, 401, _local(str(URL(scope=scope).replace(scheme="", netloc="")))
            )
        return JSONResponse({"detail": _SIGN_IN}, 401, {"WWW-Authenticate": "Bearer"})

    def _welcome(
        self, request: Request, secret: str | None, reason: str, goal: str = _HOME
    ) -> Response:
        if secret is None:
            self._count(reason)
            return self._page(_PROBLEMS[reason], 401, goal)
        response = RedirectResponse(goal, 303)
        response.set_cookie(
            self._policy.cookie,
            secret,
            path="/",
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response

    def _page(self, problem: str | None, status: int, goal: str = _HOME) -> Response:
        return self._renderer.page(LoginPage(problem, goal), status=status)


def _local(goal: object) -> str:
    """Return the goal if browsers take it for an address of this server; else the home page."""
    is_local = isinstance(goal, str) and _LOCAL.fullmatch(goal) is not None
    return str(goal) if is_local else _HOME
