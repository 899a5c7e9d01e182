"""Breakpoints on the session page: made, switched, deleted; every reader's list follows."""

from collections.abc import Mapping

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from devui.debugger.breakpoints import BreakpointError, Draft
from devui.store.rows import SessionRow
from devui.web.api.bodies import parse
from devui.web.api.breakpoints import BreakpointBody
from devui.web.breaking import Asked, break_form, described, like_row
from devui.web.errors import BadRequest, NotFound, Unprocessable
from devui.web.htmx import HtmxRequest
from devui.web.intake import parse_json, read_form
from devui.web.links import session_url
from devui.web.numbers import whole_number
from devui.web.push import fill, renew
from devui.web.services import Services
from devui.web.views.lookup import event_of, session_of, theme_of
from devui.web.workbench import session_page


async def add(request: Request) -> Response:
    """Make the one of the form; or (`draft`) the one that an event's button says; or (`event`)
    one on events like that, or take it away again."""
    found, session = await session_of(request)
    given = {name: str(value).strip() for name, value in (await read_form(request)).items()}
    if "event" in given:
        return await _toggle(request, found, session, given["event"])
    if "draft" in given:
        draft = parse(BreakpointBody, parse_json(given["draft"].encode())).draft()
        return _said(request, session.key, await _make(found, session.app, draft))
    draft = parse(BreakpointBody, {k: v for k, v in given.items() if v}).draft()
    try:
        await found.book.add(session.app, draft)
    except BreakpointError as error:
        return await _refused(request, found, session, given, error)
    if not HtmxRequest.read(request.headers):
        return _back(session.key)
    form = found.render.part(break_form(session.key))
    return HTMLResponse(renew("#break-form", form))


async def change(request: Request) -> Response:
    """Switch one on or off that is still as the reader has seen it."""
    found, session, number = await _named(request)
    form = await read_form(request)
    version = whole_number(str(form.get("version") or ""))
    if version is None:
        raise BadRequest("`version` has to be the number of the version that was read")
    enabled = form.get("enabled") == "yes"
    await found.book.change(number, version, draft=None, enabled=enabled)
    return _done(request, session.key)


async def delete(request: Request) -> Response:
    """Delete one; one that is not there any more is what was wanted."""
    found, session = await session_of(request)
    number = whole_number(request.path_params["number"])
    if number is not None:
        await found.book.delete(session.app, number)
    return _done(request, session.key)


async def _named(request: Request) -> tuple[Services, SessionRow, int]:
    found, session = await session_of(request)
    number = whole_number(request.path_params["number"])
    if number is None or found.book.get(session.app, number) is None:
        raise NotFound(f"{session.app} has no such breakpoint; it may have been deleted")
    return found, session, number


async def _toggle(request: Request, found: Services, session: SessionRow, event: str) -> Response:
    row = await event_of(found, session, event)
    if row is None:
        raise Unprocessable("choose an event first")
    draft = like_row(row)
    same = [known for known in found.book.of(session.app) if known.breakpoint.draft == draft]
    for known in same:
        await found.book.delete(session.app, known.row.id)
    if same:
        return _said(request, session.key, f"No longer breaks on {described(draft)}")
    return _said(request, session.key, await _make(found, session.app, draft))


async def _make(found: Services, app: str, draft: Draft) -> str:
    """Make it, or switch on the same one that is there; what was done, in words."""
    for known in found.book.of(app):
        if known.breakpoint.draft == draft:
            await found.book.change(known.row.id, known.row.version, draft=None, enabled=True)
            return f"Breaks on {described(draft)}: breakpoint {known.row.id} was there already"
    known = await found.book.add(app, draft)
    return f"Breaks on {described(draft)}: breakpoint {known.row.id}"


async def _refused(
    request: Request,
    found: Services,
    session: SessionRow,
    given: Mapping[str, str],
    error: BreakpointError,
) -> Response:
    """The form with what was typed, and the error at its field."""
    form = break_form(session.key, given, error)
    if HtmxRequest.read(request.headers):
        return HTMLResponse(fill("#break-form", found.render.part(form)), status_code=422)
    page = await session_page(
        found, session, None, tab="breaks", theme=theme_of(request), asked=Asked(form=form)
    )
    return found.render.page(page, status=422)


def _said(request: Request, session: int, text: str) -> Response:
    if not HtmxRequest.read(request.headers):
        return _back(session)
    told = Markup("<span hx-ignore>{}</span>").format(text)
    return HTMLResponse(fill("#like-said", told) + fill("#break-said", told))


def _done(request: Request, session: int) -> Response:
    if HtmxRequest.read(request.headers):
        return Response(status_code=204)
    return _back(session)


def _back(session: int) -> Response:
    return RedirectResponse(session_url(session, tab="breaks"), status_code=303)
