"""The gutter: the form for a breakpoint on events like one, and going from hit to hit."""

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from devui.debugger.breakpoints.hits import past_hits
from devui.debugger.summary import Summary
from devui.store.rows import EventRow, SessionRow
from devui.web.errors import NotFound
from devui.web.htmx import HtmxRequest, keep_url, push_url, retarget
from devui.web.links import session_url
from devui.web.parts.gutter import BreaksHere
from devui.web.parts.inspector import Selection
from devui.web.presenters.breaking import SHEET, break_item
from devui.web.presenters.inspection import inspector, tab_of
from devui.web.presenters.likeness import break_sheet
from devui.web.presenters.margins import Margins
from devui.web.presenters.transport import transport
from devui.web.push import say
from devui.web.services import Services
from devui.web.views.lookup import event_of, session_of

_BACK = "previous"


async def sheet(request: Request) -> Response:
    """What of an event can be waited for."""
    found, session = await session_of(request)
    row = await _event(found, session, request.path_params["number"])
    summary = Summary.from_json(row.summary)
    return found.render.page(break_sheet(row, summary, _here(found, session, row, summary)))


async def here(request: Request) -> Response:
    """What sits on an event now, for its form that is open."""
    found, session = await session_of(request)
    row = await _event(found, session, request.query_params.get("like"))
    summary = Summary.from_json(row.summary)
    return found.render.page(_here(found, session, row, summary))


async def _event(found: Services, session: SessionRow, number: str | None) -> EventRow:
    row = await event_of(found, session, number)
    if row is None:
        raise NotFound("there is no such event")
    return row


def _here(found: Services, session: SessionRow, row: EventRow, summary: Summary) -> BreaksHere:
    numbers = {stop.number for stop in Margins.of(found, session).here(row, summary)}
    known = (each for each in found.book.of(session.app) if each.row.id in numbers)
    return BreaksHere(tuple(break_item(found, each, session, place=SHEET) for each in known))


async def hit(request: Request) -> Response:
    """The event before or after `event` at which one of the breakpoints would have been met."""
    found, session = await session_of(request)
    row = await event_of(found, session, request.query_params.get("event"))
    back, tab = request.path_params["direction"] == _BACK, request.query_params.get("tab")
    there = await _nearest(found, session, row, back=back)
    htmx = HtmxRequest.read(request.headers)
    if there is None:
        return _none(session, row, tab, back=back, htmx=bool(htmx))
    address = session_url(session.key, event=there.number, tab=tab)
    if not htmx:
        return RedirectResponse(address, status_code=303)
    shown = await inspector(found, session, there, tab_of(tab, selected=True))
    bar = await transport(found, session, there, tab)
    return found.render.page(Selection(shown, bar), headers=push_url(address))


async def _nearest(
    found: Services, session: SessionRow, row: EventRow | None, *, back: bool
) -> EventRow | None:
    """Of the breakpoints that are on for the session's user, logpoints too."""
    points = [each.breakpoint for each in found.book.enabled(session.app, session.user)]
    at = row.number if row else session.events + 1
    where = {"before": at} if back else {"after": at}
    past = await past_hits(found.journal, session, points, found.prices, limit=1, **where)
    if not points or not past.hits:
        return None
    return await event_of(found, session, str(past.hits[0].number))


def _none(
    session: SessionRow, row: EventRow | None, tab: str | None, *, back: bool, htmx: bool
) -> Response:
    if not htmx:
        here = session_url(session.key, event=row.number if row else None, tab=tab)
        return RedirectResponse(here, status_code=303)
    told = say("#break-said", f"No breakpoint hit {'before' if back else 'after'} this")
    return HTMLResponse(told, headers={**retarget("#break-said", "none"), **keep_url()})
