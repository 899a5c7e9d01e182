"""`/sessions/{key}`: the session page, its name and its end."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.filters import Typed
from devui.debugger.news import SessionChanged
from devui.store.rows import EventRow, SessionRow
from devui.web.cursor import Cursor, ForeignCursor
from devui.web.errors import Conflict
from devui.web.htmx import HtmxRequest, refresh
from devui.web.links import app_url, session_url
from devui.web.parts.inspector import Selection
from devui.web.presenters.breaking import Asked
from devui.web.presenters.inspection import inspector, tab_of
from devui.web.presenters.transport import transport
from devui.web.presenters.workbench import narrowed, session_page
from devui.web.security.intake import read_form
from devui.web.services import Services
from devui.web.text.numbers import whole_number
from devui.web.views.lookup import event_of, session_of, theme_of
from devui.web.views.moments import moment_of, pin_of


async def show(request: Request) -> Response:
    """The page as of an event or as it is now; for htmx, just what a choice of a row changes."""
    found, session = await session_of(request)
    tab = request.query_params.get("tab")
    fork = request.query_params.get("fork") is not None
    asked = Asked(
        past=whole_number(request.query_params.get("hits")),
        against=whole_number(request.query_params.get("with")),
        fork=fork,
        at=await event_of(found, session, request.query_params.get("at")),
        pin=pin_of(request),
        since=await moment_of(found, session, request.query_params.get("since")),
        typed=Typed.read(request.query_params.get("filter")),
    )
    tab = "event" if fork else tab
    row = await event_of(found, session, request.query_params.get("event"))
    if asked.at and (row is None or row.number > asked.at.number):
        row = asked.at
    htmx = HtmxRequest.read(request.headers)
    if htmx.partial and htmx.target == "section#timeline":
        return await _narrowed(request, found, session, row, tab=tab, asked=asked)
    if htmx.partial:
        shown = await inspector(
            found, session, row, tab_of(tab, selected=row is not None), asked=asked
        )
        bar = await transport(found, session, row, tab, asked=asked)
        return found.render.page(Selection(shown, bar))
    if session.app in found.apps.names():
        found.workers.warm(session.app)
    page = await session_page(found, session, row, tab=tab, theme=theme_of(request), asked=asked)
    return found.render.page(page)


async def _narrowed(
    request: Request,
    found: Services,
    session: SessionRow,
    row: EventRow | None,
    *,
    tab: str | None,
    asked: Asked,
) -> Response:
    """The timeline with another filter, for a page that has come to `?seen=JOURNAL.SEQ`."""
    at = request.query_params.get("seen")
    try:
        seen = Cursor.read(at, found.journal.id) if at else None
    except ForeignCursor:
        return Response(status_code=204, headers=refresh())
    page = await narrowed(found, session, row, tab=tab, asked=asked, seen=seen)
    return found.render.page(page)


async def rename(request: Request) -> Response:
    """Give the session a title; an empty one takes it away."""
    found, session = await session_of(request)
    title = str((await read_form(request)).get("title") or "").strip()
    row = await found.journal.sessions.rename(session.key, title or None)
    found.bus.publish(session.key, SessionChanged(row))
    return _done(request, session_url(session.key))


async def delete(request: Request) -> Response:
    """Delete the session with all its events."""
    found, session = await session_of(request)
    if found.runs.live(session.key) is not None:
        raise Conflict("a run is under way on this session: stop it first")
    await found.journal.sessions.delete(session.key)
    found.bus.publish(session.key, SessionChanged(None))
    return RedirectResponse(app_url(session.app), status_code=303)


def _done(request: Request, url: str) -> Response:
    """Nothing for htmx, which sees the change on the stream; the page again for a plain form."""
    if HtmxRequest.read(request.headers):
        return Response(status_code=204)
    return RedirectResponse(url, status_code=303)
