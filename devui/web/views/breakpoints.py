"""Breakpoints on the session page: made, switched, deleted; every reader's list follows."""

from collections.abc import Mapping
from dataclasses import replace

from markupsafe import Markup
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from devui.debugger.breakpoints.breakpoints import BreakpointError, Draft, Known
from devui.debugger.summary import Summary
from devui.store.errors import BreakpointChanged
from devui.store.rows import SessionRow
from devui.web.api.bodies import parse
from devui.web.api.breakpoints import BreakpointBody
from devui.web.errors import BadRequest, NotFound, Unprocessable
from devui.web.htmx import HtmxRequest
from devui.web.links import session_url
from devui.web.parts.breakpoints import BreakForm
from devui.web.presenters.breaking import (
    SHEET,
    TAB,
    Asked,
    break_form,
    break_item,
    change_form,
    described,
    like_row,
    told,
    wrong_place,
)
from devui.web.presenters.likeness import LOG, composed
from devui.web.presenters.workbench import session_page
from devui.web.push import fill, remove, renew, say
from devui.web.security.intake import parse_json, read_form
from devui.web.services import Services
from devui.web.text.numbers import whole_number
from devui.web.views.lookup import event_of, session_of, theme_of


async def add(request: Request) -> Response:
    """Make the one of the form; or (`draft`) the one that an event's button says; or (`like`) one
    on what is taken of an event; or (`event`) one on events like that, or take it away again."""
    found, session = await session_of(request)
    sent = await read_form(request)
    given = {name: str(value).strip() for name, value in sent.items()}
    if "event" in given:
        return await _toggle(request, found, session, given)
    if "like" in given:
        taken = {str(each) for each in sent.getlist("take")}
        return await _like(request, found, session, given, taken)
    if "draft" in given:
        draft = parse(BreakpointBody, parse_json(given["draft"].encode())).draft()
        return _said(request, session.key, await _make(found, session, draft))
    draft = parse(BreakpointBody, {k: v for k, v in given.items() if v}).draft()
    try:
        await found.book.add(session.app, draft)
    except BreakpointError as error:
        form = break_form(session.key, given, error)
        return await _refused(request, found, session, form)
    if not HtmxRequest.read(request.headers):
        return _back(session.key)
    empty = found.render.part(break_form(session.key))
    return HTMLResponse(renew("#break-form", empty))


async def change(request: Request) -> Response:
    """Switch one for the session's user, if it is still as the reader has seen it."""
    found, session, known = await _named(request)
    form = await read_form(request)
    enabled = form.get("enabled") == "yes"
    known = await found.book.switch(known.row.id, _version(form), session.user, enabled=enabled)
    if not str(form.get("at") or "").startswith(SHEET):
        return _done(request, session.key)
    item = found.render.part(break_item(found, known, session, place=SHEET))
    return HTMLResponse(fill(f"#{SHEET}-{known.row.id}", item))


async def edit(request: Request) -> Response:
    """Change what one waits for, if it is still as the reader has seen it."""
    found, session, known = await _named(request)
    form = await read_form(request)
    given = {name: str(value).strip() for name, value in form.items()}
    fields = {k: v for k, v in given.items() if v and k not in {"at", "version"}}
    draft = parse(BreakpointBody, fields).draft()
    number, version = known.row.id, _version(form)
    place = SHEET if given.get("at", "").startswith(SHEET) else TAB
    try:
        known = await found.book.change(number, version, draft=draft, enabled=None)
    except BreakpointError as error:
        refused = change_form(session.key, known, given, error, place=place)
        # What was read is what the answer goes on from, also if it is behind by now.
        return await _refused(request, found, session, replace(refused, version=version))
    except BreakpointChanged:
        _, _, known = await _named(request)
        refused = change_form(session.key, known, given, place=place)
        refused = replace(refused, overtaken=told(known.breakpoint.draft))
        return await _refused(request, found, session, refused, status=409)
    if not HtmxRequest.read(request.headers):
        return _back(session.key)
    item = replace(break_item(found, known, session, place=place), is_changed=True)
    return HTMLResponse(renew(f"#{item.id}", found.render.part(item)))


def _version(form: FormData) -> int:
    version = whole_number(str(form.get("version") or ""))
    if version is None:
        raise BadRequest("`version` has to be the number of the version that was read")
    return version


async def delete(request: Request) -> Response:
    """Delete one; one that is not there any more is what was wanted."""
    found, session = await session_of(request)
    number = whole_number(request.path_params["number"])
    if number is not None:
        await found.book.delete(session.app, number)
    if not HtmxRequest.read(request.headers):
        return _back(session.key)
    return HTMLResponse(remove(f"#{SHEET}-{number}"))


async def _named(request: Request) -> tuple[Services, SessionRow, Known]:
    found, session = await session_of(request)
    number = whole_number(request.path_params["number"])
    known = found.book.get(session.app, number) if number is not None else None
    if known is None:
        raise NotFound(f"{session.app} has no such breakpoint; it may have been deleted")
    return found, session, known


async def _toggle(
    request: Request, found: Services, session: SessionRow, given: Mapping[str, str]
) -> Response:
    row = await event_of(found, session, given["event"])
    if row is None:
        raise Unprocessable("choose an event first")
    draft = replace(like_row(row), log=LOG if given.get("do") == "log" else "")
    same = [known for known in found.book.of(session.app) if known.breakpoint.draft == draft]
    for known in same:
        await found.book.delete(session.app, known.row.id)
    if same:
        does = "logs" if draft.log else "breaks on"
        return _said(request, session.key, f"No longer {does} {described(draft)}")
    return _said(request, session.key, await _make(found, session, draft))


async def _like(
    request: Request,
    found: Services,
    session: SessionRow,
    given: Mapping[str, str],
    taken: set[str],
) -> Response:
    row = await event_of(found, session, given["like"])
    if row is None:
        raise Unprocessable("choose an event first")
    log = (given.get("log") or LOG) if given.get("do") == "log" else ""
    draft = composed(
        row,
        Summary.from_json(row.summary),
        taken,
        condition=given.get("condition", ""),
        log=log,
    )
    try:
        text = await _make(found, session, draft)
    except BreakpointError as error:
        if not HtmxRequest.read(request.headers):
            raise Unprocessable(str(error)) from error
        place = wrong_place(given, error)
        shown = found.render.part(place) if place else ""
        told = Markup("<span hx-ignore>{}</span>{}").format(str(error), shown)
        return HTMLResponse(fill("#sheet-said", told), status_code=422)
    if not HtmxRequest.read(request.headers):
        return _back(session.key)
    return HTMLResponse(say("#break-said", text) + renew("#sheet", Markup("")))


async def _make(found: Services, session: SessionRow, draft: Draft) -> str:
    """Make it, or switch on the same one that is there; what was done, in words."""
    does = "Logs" if draft.log else "Breaks on"
    for known in found.book.of(session.app):
        if known.breakpoint.draft == draft:
            await found.book.switch(known.row.id, known.row.version, session.user, enabled=True)
            return f"{does} {described(draft)}: breakpoint {known.row.id} was there already"
    known = await found.book.add(session.app, draft)
    return f"{does} {described(draft)}: breakpoint {known.row.id}"


async def _refused(
    request: Request,
    found: Services,
    session: SessionRow,
    form: BreakForm,
    *,
    status: int = 422,
) -> Response:
    """The form with what was typed, and the error at its field."""
    if HtmxRequest.read(request.headers):
        return HTMLResponse(fill(f"#{form.id}-form", found.render.part(form)), status_code=status)
    page = await session_page(
        found, session, None, tab="breaks", theme=theme_of(request), asked=Asked(form=form)
    )
    return found.render.page(page, status=status)


def _said(request: Request, session: int, text: str) -> Response:
    if not HtmxRequest.read(request.headers):
        return _back(session)
    return HTMLResponse(say("#like-said", text) + say("#break-said", text))


def _done(request: Request, session: int) -> Response:
    if HtmxRequest.read(request.headers):
        return Response(status_code=204)
    return _back(session)


def _back(session: int) -> Response:
    return RedirectResponse(session_url(session, tab="breaks"), status_code=303)
