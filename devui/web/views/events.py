"""Older events, one event, and the state, each as a piece of the session page."""

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.filters import Typed
from devui.debugger.matches import words
from devui.debugger.rewinds import taken_back
from devui.web.errors import BadRequest, NotFound
from devui.web.parts.timeline import Older
from devui.web.presenters.breaking import Asked
from devui.web.presenters.filtering import filter_words, shown, sought
from devui.web.presenters.inspection import detail
from devui.web.presenters.inspection import state as state_panel
from devui.web.presenters.margins import Margins
from devui.web.presenters.rows import earlier
from devui.web.presenters.tips import event_tip
from devui.web.presenters.window import window_before
from devui.web.text.numbers import whole_number
from devui.web.views.lookup import event_of, session_of


async def older(request: Request) -> Response:
    """The window of events before the journal's `before`; with a filter, of those it lets through,
    without the messages."""
    found, session = await session_of(request)
    before = whole_number(request.query_params.get("before"))
    if before is None:
        raise BadRequest("`before` has to be a number: the seq of the first event shown")
    typed = Typed.read(request.query_params.get("filter"))
    at = await event_of(found, session, request.query_params.get("at"))
    if typed.filter is not None:
        asked = await sought(found, session, Asked(typed=typed, at=at), head=before - 1)
        rows = await shown(found, session, None, asked=asked, before=before)
        return found.render.page(Older(rows.items, (), rows.earlier))
    window = await window_before(found.journal, session.key, before)
    number = at.number if at else None
    taken = await taken_back(found.journal, session.key, until=number)
    window = replace(window, taken=taken)
    above = earlier(session.key, window.events[0][0] if window.events else None, at=number)
    items = window.items(Margins.of(found, session))
    return found.render.page(Older(items, window.messages(), above))


async def filter_terms(request: Request) -> Response:
    """What a filter of the session may ask for."""
    found, session = await session_of(request)
    return found.render.page(filter_words(await words(found.journal, session.key)))


async def show(request: Request) -> Response:
    """One event in full."""
    found, session = await session_of(request)
    row = await event_of(found, session, request.path_params["number"])
    if row is None:
        raise NotFound("there is no such event")
    return found.render.page(await detail(found, session, row))


async def tip(request: Request) -> Response:
    """One event in a few words, with what it did to the state."""
    found, session = await session_of(request)
    row = await event_of(found, session, request.path_params["number"])
    if row is None:
        raise NotFound("there is no such event")
    changes = await found.journal.state.changes(session.key, row.number)
    return found.render.page(event_tip(row, changes))


async def state(request: Request) -> Response:
    """The state as of the event `at`, or now."""
    found, session = await session_of(request)
    row = await event_of(found, session, request.query_params.get("at"))
    return found.render.page(await state_panel(found, session, row))
