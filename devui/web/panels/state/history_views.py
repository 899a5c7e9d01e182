"""Who wrote a state key: its history, and the way from one write to the next."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.history.key_history import nearest_write
from devui.debugger.history.paths import Pin
from devui.store.rows import SessionRow
from devui.store.state import scoped
from devui.web.errors import BadRequest, NotFound
from devui.web.links import moment_url
from devui.web.lookup import event_of, session_of
from devui.web.page_query import PageQuery, view_of
from devui.web.panels.state.addresses import moment_of, pin_of
from devui.web.panels.state.key_history import key_history, pin_bar
from devui.web.panels.state.parts import ReloadedHistory
from devui.web.services import Services

_NOW = 2**63 - 1
_WRITES = {"previous", "next"}
_EVENTS = {"earlier": -1, "later": 1}
_EVERY = "all"


async def nearest(request: Request) -> Response:
    """Redirect to the page as of the nearest event that wrote `key` (at its `path`, if given), or
    any key with `of=all`, while `key` stays pinned. Without such an event, the page stays where it
    is. `then`, which may be repeated, continues from there: to another write, or by one event
    (`earlier`, `later`)."""
    services, session = await session_of(request)
    params, way = request.query_params, request.path_params["direction"]
    if way not in _WRITES:
        raise NotFound("choose the previous or the next write")
    ways = [way, *params.getlist("then")]
    if not _WRITES.union(_EVENTS).issuperset(ways):
        raise BadRequest("`then` must be previous, next, earlier, or later")
    at = await moment_of(services, session, params.get("at"))
    since = await moment_of(services, session, params.get("since"))
    pin, number = pin_of(request), at.number or None if at else None
    target = None if params.get("of") == _EVERY else pin
    for way in ways:
        number = await _beside(services, session, number, way, target)
    url = moment_url(
        session.key,
        number,
        tab=params.get("tab"),
        pin=pin,
        since=since.number if since else None,
        only=params.get("filter") or "",
        view=view_of(params.get("view")),
    )
    return RedirectResponse(url, status_code=303)


async def _beside(
    services: Services, session: SessionRow, number: int | None, way: str, pin: Pin | None
) -> int | None:
    """Return the number of the event one step from another, or from now."""
    if way in _EVENTS:
        last = session.events
        return min(max((number or last + 1) + _EVENTS[way], 1), last) or None
    at = await moment_of(services, session, str(number)) if number else None
    seq, back = at.seq if at else _NOW, way == "previous"
    histories = services.journal.histories
    if pin is None:
        there = await histories.change(session.key, seq, back=back)
    else:
        key = scoped(pin.key)
        there = await nearest_write(histories, session.key, key, seq, back=back, path=pin.path)
    return there or number


async def history(request: Request) -> Response:
    """Return the current writes of `?key=` (at its `path`), about `?event=`, as of `?at=`."""
    services, session = await session_of(request)
    params, pin = request.query_params, pin_of(request)
    if pin is None:
        raise BadRequest("name the key: `?key=plan`, or `?key=user:name`")
    at = await event_of(services, session, params.get("at"))
    row = await event_of(services, session, params.get("event")) or at
    since = await moment_of(services, session, params.get("since"))
    query = PageQuery(at=at, pin=pin, since=since)
    return services.render.page(
        ReloadedHistory(
            await key_history(services, session, row, pin, query=query),
            await pin_bar(services, session, row, pin, tab="state", query=query),
        )
    )
