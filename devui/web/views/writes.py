"""Who wrote a state key: its history, and from one write to the one before or after."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.keyhistory import nearest_write
from devui.store.state import scoped
from devui.web.errors import BadRequest, NotFound
from devui.web.links import moment_url
from devui.web.parts.keyhistory import HistoryNow
from devui.web.presenters.breaking import Asked
from devui.web.presenters.keyhistory import key_history, pin_bar
from devui.web.views.lookup import event_of, session_of
from devui.web.views.moments import moment_of, pin_of

_NOW = 2**63 - 1
_BACK = "previous"


async def nearest(request: Request) -> Response:
    """To the page as of the nearest event that wrote `key` (at its `path`, if one is named), or any
    key; else it stays there."""
    found, session = await session_of(request)
    direction = request.path_params["direction"]
    if direction not in {_BACK, "next"}:
        raise NotFound("there are only a previous and a next write")
    query = request.query_params
    at = await moment_of(found, session, query.get("at"))
    pin, seq, back = pin_of(request), at.seq if at else _NOW, direction == _BACK
    histories = found.journal.histories
    if pin is None:
        there = await histories.change(session.key, seq, back=back)
    else:
        there = await nearest_write(
            histories, session.key, scoped(pin.key), seq, back=back, path=pin.path
        )
    here = at.number or None if at else None
    since = await moment_of(found, session, query.get("since"))
    url = moment_url(
        session.key,
        there or here,
        tab=query.get("tab"),
        pin=pin,
        since=since.number if since else None,
        only=query.get("filter") or "",
    )
    return RedirectResponse(url, status_code=303)


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
