"""`/sessions/{key}/writes/…`: from one change of the state to the one before or after."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.store.state import scoped
from devui.web.errors import NotFound
from devui.web.links import moment_url
from devui.web.views.lookup import moment_of, session_of

_NOW = 2**63 - 1
_BACK = "previous"


async def nearest(request: Request) -> Response:
    """To the page as of the nearest event that wrote `key`, or any key; else it stays there."""
    found, session = await session_of(request)
    direction = request.path_params["direction"]
    if direction not in {_BACK, "next"}:
        raise NotFound("there are only a previous and a next write")
    query = request.query_params
    at = await moment_of(found, session, query.get("at"))
    pin, seq, back = query.get("key") or "", at.seq if at else _NOW, direction == _BACK
    histories = found.journal.histories
    if not pin:
        there = await histories.change(session.key, seq, back=back)
    elif back:
        there = await histories.previous(session.key, *scoped(pin), seq)
    else:
        there = await histories.next(session.key, *scoped(pin), seq)
    here = at.number or None if at else None
    url = moment_url(session.key, there or here, tab=query.get("tab"), pin=pin or None)
    return RedirectResponse(url, status_code=303)
