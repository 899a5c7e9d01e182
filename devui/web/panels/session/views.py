"""The session page and its title; deleting it, dismissing notices, showing secrets."""

from urllib.parse import urlsplit

from starlette.datastructures import FormData, QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.breakpoints.hits import Past
from devui.debugger.events.news import APPS, NoticesChanged, SessionChanged
from devui.debugger.predicates.filters import FilterInput
from devui.debugger.runs.activity import RunActivity
from devui.store.rows import EventRow, SessionRow
from devui.web.errors import Conflict, Forbidden
from devui.web.htmx import HtmxRequest, refresh
from devui.web.links import app_url, session_url, sessions_url
from devui.web.lookup import event_of, session_of, theme_of
from devui.web.page_query import TRACE, PageQuery, view_of
from devui.web.panels.apps.session_list import ListQuery
from devui.web.panels.breakpoints.panel import hits_of
from devui.web.panels.inspector.inspector import inspector, tab_of
from devui.web.panels.inspector.parts import Selection
from devui.web.panels.runs.panel import activity_of
from devui.web.panels.session.notices import server_notices
from devui.web.panels.session.page import filter_result, session_page
from devui.web.panels.state.addresses import moment_of, pin_of
from devui.web.panels.timeline.filtering import search
from devui.web.panels.timeline.transport import transport
from devui.web.panels.trace.switch import shown_trace, view_switch
from devui.web.panels.watch.panel import watch_strip
from devui.web.security.intake import read_form
from devui.web.services import Services, services_of
from devui.web.stream_offset import ForeignOffset, StreamOffset
from devui.web.text.numbers import whole_number


async def dismiss_notice(request: Request) -> Response:
    """Dismiss a notice; names of notices that aren't shown are ignored."""
    services = services_of(request)
    name = str((await read_form(request)).get("seen") or "")
    if name in {each.key for each in server_notices(services) if each.key}:
        services.dismissed_notices.dismiss(name)
        services.bus.publish(APPS, NoticesChanged())
    if HtmxRequest.read(request.headers):
        return Response(status_code=204)
    return RedirectResponse("/", status_code=303)


async def secrets(request: Request) -> Response:
    """Show secrets on this browser's pages for a while, or hide them, and reload the page."""
    form = await read_form(request)
    if not services_of(request).view.reveal(show=form.get("show") == "yes"):
        raise Forbidden("To show or hide secrets, sign in with devui's link or token.")
    return RedirectResponse(_referrer(request), status_code=303)


def _referrer(request: Request) -> str:
    """Return the path of this server's page that a form was on; "/" if unknown."""
    page = urlsplit(request.headers.get("referer", ""))
    if page.netloc != request.headers["host"] or page.path.startswith("//"):
        return "/"
    return page._replace(scheme="", netloc="", fragment="").geturl() or "/"


async def show(request: Request) -> Response:
    """Return the page as of an event or now; for htmx, only what selecting a row changes."""
    services, session = await session_of(request)
    tab = request.query_params.get("tab")
    if tab == TRACE:  # it was one of the inspector's tabs
        there = request.url.remove_query_params("tab").include_query_params(view=TRACE)
        return RedirectResponse(f"{there.path}?{there.query}", status_code=303)
    # Before a page takes its turn: other pages must not wait for a worker that doesn't answer or a
    # search through a long session.
    activity = None
    if tab == "run":
        at = await event_of(services, session, request.query_params.get("at"))
        activity = await activity_of(services, session, await _selected(request, at))
    number = whole_number(request.query_params.get("hits")) if tab == "breaks" else None
    hits = await hits_of(services, session, number) if number is not None else None
    await search(services, session, FilterInput.read(request.query_params.get("filter")).filter)
    async with services.rendering:
        return await _page(request, activity, hits)


async def _selected(request: Request, at: EventRow | None) -> EventRow | None:
    """Return the event in the address, or the one that the page is as of if that is earlier."""
    services, session = await session_of(request)
    row = await event_of(services, session, request.query_params.get("event"))
    return at if at and (row is None or row.number > at.number) else row


async def _page(request: Request, activity: RunActivity | None, hits: Past | None) -> Response:
    services, session = await session_of(request)
    tab = request.query_params.get("tab")
    fork = request.query_params.get("fork") or ""
    query = PageQuery(
        past=whole_number(request.query_params.get("hits")),
        hits=hits,
        against=whole_number(request.query_params.get("with")),
        fork=fork,
        at=await event_of(services, session, request.query_params.get("at")),
        pin=pin_of(request),
        since=await moment_of(services, session, request.query_params.get("since")),
        filter_field=FilterInput.read(request.query_params.get("filter")),
        edit=request.query_params.get("edit"),
        file=request.query_params.get("file") or None,
        version=whole_number(request.query_params.get("version")),
        view=view_of(request.query_params.get("view")),
        activity=activity,
    )
    tab = "event" if fork else tab
    row = await _selected(request, query.at)
    htmx = HtmxRequest.read(request.headers)
    if htmx.partial and htmx.target == "section#timeline":
        return await _filter_result(request, services, session, row, tab=tab, query=query)
    if htmx.partial:
        panel = await inspector(
            services, session, row, tab_of(tab, has_selection=row is not None), query=query
        )
        bar = await transport(services, session, row, tab, query=query)
        strip = await watch_strip(services, session, row, at=query.at)
        switch = view_switch(session, row, tab, query)
        trace = await shown_trace(services, session, row, query)
        return services.render.page(Selection(panel, bar, strip, switch, trace))
    if session.app in services.apps.names():
        services.workers.warm(session.app)
    page = await session_page(services, session, row, tab=tab, theme=theme_of(request), query=query)
    return services.render.page(page)


async def _filter_result(
    request: Request,
    services: Services,
    session: SessionRow,
    row: EventRow | None,
    *,
    tab: str | None,
    query: PageQuery,
) -> Response:
    """Return the timeline with another filter, for a page that has reached `?seen=JOURNAL.SEQ`."""
    at = request.query_params.get("seen")
    try:
        offset = StreamOffset.read(at, services.journal.id) if at else None
    except ForeignOffset:
        return Response(status_code=204, headers=refresh())
    page = await filter_result(services, session, row, tab=tab, query=query, offset=offset)
    return services.render.page(page)


async def rename(request: Request) -> Response:
    """Give the session a title; an empty one removes it."""
    services, session = await session_of(request)
    form = await read_form(request)
    title, address = str(form.get("title") or "").strip(), _list_of(session, form)
    row = await services.journal.sessions.rename(session.key, title or None)
    services.bus.publish(session.key, SessionChanged(row))
    return _acknowledge(request, address or session_url(session.key))


async def delete(request: Request) -> Response:
    """Delete the session with all its events."""
    services, session = await session_of(request)
    address = _list_of(session, await read_form(request)) or app_url(session.app)
    if services.runs.live(session.key) is not None:
        raise Conflict("a run is in progress on this session: stop it first")
    await services.journal.sessions.delete(session.key)
    services.bus.publish(session.key, SessionChanged(None))
    return RedirectResponse(address, status_code=303)


def _list_of(session: SessionRow, form: FormData) -> str:
    """Return the list that the form is in, on the same page of it; "" if it isn't in a list. Raises
    BadRequest for an invalid query of a list."""
    if (words := form.get("list")) is None:
        return ""
    query = ListQuery.read(QueryParams(str(words)))
    return f"{sessions_url(session.app, query.words)}#sessions"


def _acknowledge(request: Request, url: str) -> Response:
    """Return nothing for htmx, which sees the change on the stream; a plain form gets the page."""
    if HtmxRequest.read(request.headers):
        return Response(status_code=204)
    return RedirectResponse(url, status_code=303)
