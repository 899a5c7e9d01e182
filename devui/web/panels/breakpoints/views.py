"""The HTML routes of breakpoints: the tab, a row's sheet, and the nearest past hits."""

from collections.abc import Mapping
from dataclasses import replace

from markupsafe import Markup
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from devui.debugger.breakpoints.breakpoint import BreakpointError, Draft, StoredBreakpoint
from devui.debugger.breakpoints.hits import past_hits
from devui.store.errors import BreakpointChanged
from devui.store.rows import EventRow, SessionRow
from devui.store.summaries import Summary
from devui.web.adk.bodies import parse
from devui.web.errors import BadRequest, NotFound, Unprocessable
from devui.web.htmx import HtmxRequest, fill, keep_url, push_url, remove, renew, retarget, say
from devui.web.links import session_url
from devui.web.lookup import event_of, existing_event, session_of, theme_of
from devui.web.page_query import PageQuery, view_of
from devui.web.panels.breakpoints.api import BreakpointBody
from devui.web.panels.breakpoints.descriptions import description, full_description
from devui.web.panels.breakpoints.from_event import LOG, breakpoint_sheet, draft_like, draft_with
from devui.web.panels.breakpoints.gutter import Gutter
from devui.web.panels.breakpoints.panel import (
    SHEET,
    TAB,
    breakpoint_form,
    breakpoint_item,
    edit_form,
    wrong_place,
)
from devui.web.panels.breakpoints.parts import BreakpointForm, BreakpointsHere
from devui.web.panels.inspector.inspector import inspector, tab_of
from devui.web.panels.inspector.parts import Selection
from devui.web.panels.runs.panel import activity_of
from devui.web.panels.session.page import session_page
from devui.web.panels.timeline.transport import transport
from devui.web.panels.trace.switch import shown_trace, view_switch
from devui.web.panels.watch.panel import watch_strip
from devui.web.security.intake import parse_json, read_form
from devui.web.services import Services
from devui.web.text.numbers import whole_number

# --- the tab -----------------------------------------------------------------------------------


async def add(request: Request) -> Response:
    """Add a breakpoint.

    The form contains `draft`, the JSON of an offer; or `like`, an event, with the traits to `take`
    from it; or `event`, an event whose breakpoint is toggled; or the fields of the breakpoint form.
    """
    services, session = await session_of(request)
    form = await read_form(request)
    fields = _texts(form)
    if "event" in fields:
        return await _toggle(request, services, session, fields)
    if "like" in fields:
        traits = {str(each) for each in form.getlist("take")}
        return await _add_like(request, services, session, fields, traits)
    if "draft" in fields:
        draft = parse(BreakpointBody, parse_json(fields["draft"].encode())).draft()
        return _confirmation(request, session.key, await _make(services, session, draft))
    draft = parse(BreakpointBody, {k: v for k, v in fields.items() if v}).draft()
    try:
        await services.book.add(session.app, draft)
    except BreakpointError as error:
        form_again = breakpoint_form(session.key, fields, error)
        return await _form_page(request, services, session, form_again)
    if not HtmxRequest.read(request.headers):
        return _tab(session.key)
    empty = services.render.part(breakpoint_form(session.key))
    return HTMLResponse(renew("#break-form", empty))


async def switch(request: Request) -> Response:
    """Switch a breakpoint on or off for the session's user; 409 if it has changed meanwhile."""
    services, session, point = await _breakpoint_of(request)
    form = await read_form(request)
    point = await services.book.switch(
        point.row.id, _version(form), session.user, enabled=form.get("enabled") == "yes"
    )
    if not str(form.get("at") or "").startswith(SHEET):
        if HtmxRequest.read(request.headers):
            return Response(status_code=204)
        return _tab(session.key)
    item = services.render.part(breakpoint_item(services, point, session, place=SHEET))
    return HTMLResponse(fill(f"#{SHEET}-{point.row.id}", item))


async def edit(request: Request) -> Response:
    """Change a breakpoint; 409, with the form as typed, if it has changed meanwhile."""
    services, session, point = await _breakpoint_of(request)
    form = await read_form(request)
    entries = _texts(form)
    fields = {k: v for k, v in entries.items() if v and k not in {"at", "version"}}
    draft = parse(BreakpointBody, fields).draft()
    number, version = point.row.id, _version(form)
    place = SHEET if entries.get("at", "").startswith(SHEET) else TAB
    try:
        point = await services.book.change(number, version, draft=draft, enabled=None)
    except BreakpointError as error:
        form_again = edit_form(session.key, point, entries, error, place=place)
        # The next attempt is still based on the version that the person has read.
        return await _form_page(request, services, session, replace(form_again, version=version))
    except BreakpointChanged:
        _, _, point = await _breakpoint_of(request)
        form_again = edit_form(session.key, point, entries, place=place)
        form_again = replace(form_again, other_version=full_description(point.breakpoint.draft))
        return await _form_page(request, services, session, form_again, status=409)
    if not HtmxRequest.read(request.headers):
        return _tab(session.key)
    item = replace(breakpoint_item(services, point, session, place=place), is_changed=True)
    return HTMLResponse(renew(f"#{item.id}", services.render.part(item)))


async def delete(request: Request) -> Response:
    """Delete a breakpoint; it isn't an error if it no longer exists."""
    services, session = await session_of(request)
    number = whole_number(request.path_params["number"])
    if number is not None:
        await services.book.delete(session.app, number)
    if not HtmxRequest.read(request.headers):
        return _tab(session.key)
    return HTMLResponse(remove(f"#{SHEET}-{number}"))


async def _breakpoint_of(request: Request) -> tuple[Services, SessionRow, StoredBreakpoint]:
    services, session = await session_of(request)
    number = whole_number(request.path_params["number"])
    point = services.book.get(session.app, number) if number is not None else None
    if point is None:
        raise NotFound(f"{session.app} has no such breakpoint; it may have been deleted")
    return services, session, point


def _texts(form: FormData) -> dict[str, str]:
    return {name: str(value).strip() for name, value in form.items()}


def _version(form: FormData) -> int:
    version = whole_number(str(form.get("version") or ""))
    if version is None:
        raise BadRequest("`version` must be the version number that you last read")
    return version


async def _toggle(
    request: Request, services: Services, session: SessionRow, fields: Mapping[str, str]
) -> Response:
    """Add a breakpoint on events like the one in `fields`, or remove it if it exists."""
    row = await event_of(services, session, fields["event"])
    if row is None:
        raise Unprocessable("select an event first")
    draft = replace(draft_like(row), log=LOG if fields.get("do") == "log" else "")
    same = [point for point in services.book.of(session.app) if point.breakpoint.draft == draft]
    for point in same:
        await services.book.delete(session.app, point.row.id)
    if same:
        text = f"{_noun(draft).capitalize()} removed: {description(draft)}"
    else:
        text = await _make(services, session, draft)
    return _confirmation(request, session.key, text)


async def _add_like(
    request: Request,
    services: Services,
    session: SessionRow,
    fields: Mapping[str, str],
    traits: set[str],
) -> Response:
    """Add a breakpoint on events that share the `traits` of the event in `fields`."""
    row = await event_of(services, session, fields["like"])
    if row is None:
        raise Unprocessable("select an event first")
    draft = draft_with(
        row,
        row.summary,
        traits,
        condition=fields.get("condition", ""),
        log=(fields.get("log") or LOG) if fields.get("do") == "log" else "",
    )
    try:
        text = await _make(services, session, draft)
    except BreakpointError as error:
        if not HtmxRequest.read(request.headers):
            raise Unprocessable(str(error)) from error
        place = wrong_place(fields, error)
        message = Markup("<span hx-ignore>{}</span>{}").format(
            str(error), services.render.part(place) if place else ""
        )
        return HTMLResponse(fill("#sheet-said", message), status_code=422)
    if not HtmxRequest.read(request.headers):
        return _tab(session.key)
    return HTMLResponse(say("#break-said", text) + renew("#sheet", Markup("")))


async def _make(services: Services, session: SessionRow, draft: Draft) -> str:
    """Add a breakpoint, or switch on an identical one; return what was done."""
    for point in services.book.of(session.app):
        if point.breakpoint.draft == draft:
            number = point.row.id
            await services.book.switch(number, point.row.version, session.user, enabled=True)
            return f"{_noun(draft).capitalize()} {number} already exists: {description(draft)}"
    point = await services.book.add(session.app, draft)
    return f"{_noun(draft).capitalize()} {point.row.id} added: {description(draft)}"


def _noun(draft: Draft) -> str:
    return "logpoint" if draft.log else "breakpoint"


async def _form_page(
    request: Request,
    services: Services,
    session: SessionRow,
    form: BreakpointForm,
    *,
    status: int = 422,
) -> Response:
    """Answer with the form as typed, with the error at its field."""
    if HtmxRequest.read(request.headers):
        part = services.render.part(form)
        return HTMLResponse(fill(f"#{form.id}-form", part), status_code=status)
    query = PageQuery(form=form)
    page = await session_page(
        services, session, None, tab="breaks", theme=theme_of(request), query=query
    )
    return services.render.page(page, status=status)


def _confirmation(request: Request, session: int, text: str) -> Response:
    if not HtmxRequest.read(request.headers):
        return _tab(session)
    return HTMLResponse(say("#like-said", text) + say("#break-said", text))


def _tab(session: int) -> Response:
    return RedirectResponse(session_url(session, tab="breaks"), status_code=303)


# --- the sheet of a row ------------------------------------------------------------------------


async def sheet(request: Request) -> Response:
    """Show the sheet that offers an event's traits to break on."""
    services, session = await session_of(request)
    row = await existing_event(services, session, request.path_params["number"])
    summary = row.summary
    here_now = _here(services, session, row, summary)
    return services.render.page(breakpoint_sheet(row, summary, here_now))


async def here(request: Request) -> Response:
    """Show the breakpoints at the event of an open sheet, as they are now."""
    services, session = await session_of(request)
    row = await existing_event(services, session, request.query_params.get("like") or "")
    return services.render.page(_here(services, session, row, row.summary))


def _here(
    services: Services, session: SessionRow, row: EventRow, summary: Summary
) -> BreakpointsHere:
    gutter = Gutter.of(services.book, services.prices, session)
    numbers = {marker.number for marker in gutter.here(row, summary)}
    points = (each for each in services.book.of(session.app) if each.row.id in numbers)
    return BreakpointsHere(
        tuple(breakpoint_item(services, each, session, place=SHEET) for each in points)
    )


# --- hits of the past --------------------------------------------------------------------------


async def nearest_hit(request: Request) -> Response:
    """Go to the nearest event before or after `event` that a breakpoint would have hit."""
    services, session = await session_of(request)
    row = await event_of(services, session, request.query_params.get("event"))
    back = request.path_params["direction"] == "previous"
    tab, view = request.query_params.get("tab"), view_of(request.query_params.get("view"))
    hit = await _nearest(services, session, row, back=back)
    htmx = HtmxRequest.read(request.headers)
    if not htmx:
        target = hit or row
        number = target.number if target else None
        address = session_url(session.key, event=number, tab=tab, view=view)
        return RedirectResponse(address, status_code=303)
    if hit is None:
        message = say(
            "#break-said", f"No breakpoint hit {'before' if back else 'after'} this event"
        )
        return HTMLResponse(message, headers={**retarget("#break-said", "none"), **keep_url()})
    activity = await activity_of(services, session, hit) if tab == "run" else None
    query = PageQuery(activity=activity, view=view)
    selection = Selection(
        await inspector(services, session, hit, tab_of(tab, has_selection=True), query=query),
        await transport(services, session, hit, tab, query=query),
        await watch_strip(services, session, hit),
        view_switch(session, hit, tab, query),
        await shown_trace(services, session, hit, query),
    )
    address = session_url(session.key, event=hit.number, tab=tab, view=view)
    return services.render.page(selection, headers=push_url(address))


async def _nearest(
    services: Services, session: SessionRow, row: EventRow | None, *, back: bool
) -> EventRow | None:
    """Return that event, for the breakpoints and logpoints that are on for the session's user."""
    points = [each.breakpoint for each in services.book.enabled(session.app, session.user)]
    number = row.number if row else session.events + 1
    bounds = {"before": number} if back else {"after": number}
    past = await past_hits(services.journal, session, points, services.prices, limit=1, **bounds)
    if not points or not past.hits:
        return None
    return await event_of(services, session, str(past.hits[0].number))
