"""Error responses: JSON like ADK's on the APIs, a page in a tab, a notice for htmx.

A response to htmx is one `<hx-partial>` for the page's `#notice`. It is swapped in whatever the
requesting element does with the rest, and that element's own target stays as it was. Text from the
request reaches a page only through autoescaping, and never for an unexpected error (R12).
"""

import logging
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import ClassVar, Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from devui.web.errors import EdgeError, Unreadable
from devui.web.htmx import HtmxRequest, keep_url
from devui.web.render import Renderer

Handler = Callable[[Request, Exception], Response]
Translation = Mapping[type[Exception], type[EdgeError]]
"""Errors of the lower layers and the edge errors they become; the text is kept."""

_log = logging.getLogger(__name__)

_API: Final = re.compile(
    r"/(?:list-apps|run|run_sse|run_live|health|version|(?:api|dev|debug)/.*|config/telemetry|agent-identity/finalize|openapi\.json|apps/[^/]+/(?:app-info|users(?:/.*)?))"
)
"""The paths of the debugger's API and of ADK's (adk-web 1.2 to 1.7)."""

_UNEXPECTED: Final = "Something went wrong in devui. Search the server log for this error ID."
_TITLES: Final[Mapping[int, str]] = {
    400: "Invalid request",
    404: "Not found",
    405: "Method not allowed",
    409: "Can't do that",
    413: "Too large",
    422: "Invalid input",
    500: "Unexpected error",
    503: "Temporarily unavailable",
}


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """An error as a page of its own."""

    template: ClassVar[str] = "pages/error.html"

    title: str
    detail: str
    error_id: str | None
    """The id to search the log for; only for unexpected errors."""


@dataclass(frozen=True, slots=True)
class ErrorNotice:
    """The same error as a notice on the page that made the request."""

    template: ClassVar[str] = "parts/error_notice.html"

    title: str
    detail: str
    error_id: str | None


class ErrorAnswers:
    """Converts exceptions to responses."""

    def __init__(
        self,
        renderer: Renderer,
        translation: Translation | None = None,
        *,
        refusals: Mapping[type[Exception], str] | None = None,
        count: Callable[[str], object] = str,
    ) -> None:
        """`count` is called with the text in `refusals` for each error of one of its types
        (R67)."""
        self._renderer = renderer
        self._translation = dict(translation or {})
        self._refusals = dict(refusals or {})
        self._count = count

    def handlers(self) -> dict[type[Exception], Handler]:
        """Return the handlers for Starlette's `exception_handlers`."""
        return {
            EdgeError: self._edge,
            HTTPException: self._http,
            ClientDisconnect: _unheard,
            Exception: self._unexpected,
            **dict.fromkeys(self._translation, self._translate),
        }

    def _edge(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, EdgeError)  # noqa: S101  (as registered)
        self._note(request, error)
        if _is_api(request):
            detail = error.detail
            content = detail if isinstance(detail, str) else [dict(entry) for entry in detail]
            return JSONResponse({"detail": content}, error.status, error.headers)
        return self._response(
            request,
            error.status,
            str(error),
            title=error.title,
            names_fields=not isinstance(error.detail, str),
            headers=error.headers,
        )

    def _translate(self, request: Request, error: Exception) -> Response:
        kinds = (self._translation.get(kind) for kind in type(error).__mro__)
        edge = next(kind for kind in kinds if kind is not None)
        self._note(request, error)
        if edge.status == Unreadable.status:
            _log.error("%s %r: %s", request.method, request.url.path, error)
        return self._edge(request, edge(str(error)))

    def _note(self, request: Request, error: Exception) -> None:
        reason = self._refusals.get(type(error))
        if reason is not None:
            self._count(reason)
            _log.info("refused %s %r: %s", request.method, request.url.path, error)

    def _http(self, request: Request, error: Exception) -> Response:
        """Answer Starlette's own errors: unknown route, method not allowed."""
        assert isinstance(error, HTTPException)  # noqa: S101  (as registered)
        headers = dict(error.headers or {})
        if _is_api(request):
            return JSONResponse({"detail": error.detail}, error.status_code, headers)
        detail = error.detail
        if error.status_code == HTTPStatus.NOT_FOUND:  # no route: Starlette's detail is the title
            detail = "devui has no page at this address."
        return self._response(request, error.status_code, detail, headers=headers)

    def _unexpected(self, request: Request, error: Exception) -> Response:
        """Answer with an error id and add it to the traceback, which the server logs."""
        error_id = secrets.token_hex(4)
        error.add_note(f"error id {error_id}")
        _log.error("error id %s: %s %r", error_id, request.method, request.url.path)
        if _is_api(request):
            return PlainTextResponse("Internal Server Error", 500, {"X-Error-Id": error_id})
        return self._response(request, 500, _UNEXPECTED, error_id=error_id)

    def _response(
        self,
        request: Request,
        status: int,
        detail: str,
        *,
        title: str = "",
        error_id: str | None = None,
        names_fields: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        title = title or _TITLES.get(status) or HTTPStatus(status).phrase
        asked_by = HtmxRequest.read(request.headers)
        if asked_by and not asked_by.restores:
            notice = ErrorNotice(title, detail, error_id)
            return self._renderer.page(
                notice, status=status, headers={**(headers or {}), **keep_url()}
            )
        sentence = detail if names_fields else detail[:1].upper() + detail[1:]
        page = ErrorPage(title, sentence, error_id)
        return self._renderer.page(page, status=status, headers=headers)


def _unheard(request: Request, error: Exception) -> Response:
    """Log that the client disconnected while sending its request; nobody reads this response."""
    _log.info("left in the middle of %s %r", request.method, request.url.path)
    return Response(status_code=400)


def _is_api(request: Request) -> bool:
    """Return whether to answer in JSON: on API paths, and to clients that don't accept HTML."""
    if HtmxRequest.read(request.headers):
        return False
    if _API.fullmatch(request.url.path):
        return True
    return "text/html" not in request.headers.get("accept", "")
