"""Who wrote a state key: its history, and from one write to the one before or after."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.keyhistory import nearest_write
from devui.debugger.paths import Pin
from devui.store.rows import SessionRow
from devui.store.state import scoped
from devui.web.errors import BadRequest, NotFound
from devui.web.links import moment_url
from devui.web.parts.keyhistory import HistoryNow
from devui.web.presenters.breaking import Asked
from devui.web.presenters.keyhistory import key_history, pin_bar
from devui.web.services import Services
from devui.web.views.lookup import event_of, session_of
from devui.web.views.moments import moment_of, pin_of

_NOW = 2**63 - 1
_WRITES = {"previous", "next"}
_EVENTS = {"earlier": -1, "later": 1}
_EVERY = "all"


async def nearest(request: Request) -> Response:
    """To the page as of the nearest event that wrote `key` (at its `path`, if one is named), or any
    key, as with `of=all`, where `key` stays pinned; else it stays there. `then` says how to go on
    from there, once or several times: to another write, or by one event (`earlier`, `later`)."""
    found, session = await session_of(request)
    query, way = request.query_params, request.path_params["direction"]
    if way not in _WRITES:
        raise NotFound("there are only a previous and a next write")
    ways = [way, *query.getlist("then")]
    if not _WRITES.union(_EVENTS).issuperset(ways):
        raise BadRequest("`then` is previous, next, earlier or later")
    at = await moment_of(found, session, query.get("at"))
    since = await moment_of(found, session, query.get("since"))
    pin, number = pin_of(request), at.number or None if at else None
    wanted = None if query.get("of") == _EVERY else pin
    for way in ways:
        number = await _beside(found, session, number, way, wanted)
    url = moment_url(
        session.key,
        number,
        tab=query.get("tab"),
        pin=pin,
        since=since.number if since else None,
        only=query.get("filter") or "",
    )
    return RedirectResponse(url, status_code=303)


async def _beside(
    found: Services, session: SessionRow, number: int | None, way: str, pin: Pin | None
) -> int | None:
    """The number of the event that is one way from another, or from now."""
    if way in _EVENTS:
        last = session.events
        return min(max((number or last + 1) + _EVENTS[way], 1), last) or None
    at = await moment_of(found, session, str(number)) if number else None
    seq, back = at.seq if at else _NOW, way == "previous"
    histories = found.journal.histories
    if pin is None:
        there = await histories.change(session.key, seq, back=back)
    else:
        key = scoped(pin.key)
        there = await nearest_write(histories, session.key, key, seq, back=back, path=pin.path)
    return there or number


async def history(request: Request) -> Response:
    """The writes of `?key=` (at its `path`), as they are now; about `?event=`, as of `?at=`."""
    found, session = await session_of(request)
    query, pin = request.query_params, pin_of(request)
    if pin is None:
        raise BadRequest("name the key: `?key=plan`, or `?key=user:name`")
    at = await event_of(found, session, query.get("at"))
    row = await event_of(found, session, query.get("event")) or at
    since = await moment_of(found, session, query.get("since"))
    asked = Asked(at=at, pin=pin, since=since)
    return found.render.page(
        HistoryNow(
            await key_history(found, session, row, pin, asked=asked),
            await pin_bar(found, session, row, pin, tab="state", asked=asked),
        )
    )
