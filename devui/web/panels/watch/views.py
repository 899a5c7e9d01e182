"""The buttons that watch a state key, or stop watching it."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.events.news import APPS, WatchChanged
from devui.web.errors import BadRequest
from devui.web.links import session_url
from devui.web.lookup import session_of
from devui.web.page_query import view_of
from devui.web.security.intake import read_form
from devui.web.text.numbers import whole_number

_TEMPORARY = "temp:"


async def change(request: Request) -> Response:
    """Watch the `key` of the form; with `do=remove`, stop watching it."""
    services, session = await session_of(request)
    form = await read_form(request)
    key = str(form.get("key") or "")
    if not key or key.startswith(_TEMPORARY):
        raise BadRequest("name a state key; `temp:` keys aren't stored and can't be watched")
    if form.get("do") == "remove":
        await services.journal.watched_keys.remove(session.app, key)
    else:
        await services.journal.watched_keys.add(session.app, key)
    services.bus.publish(APPS, WatchChanged(session.app))
    event, at = (whole_number(str(form.get(name) or "")) for name in ("event", "at"))
    view = view_of(request.query_params.get("view"))
    url = session_url(session.key, event=event, at=at, tab="state", view=view)
    return RedirectResponse(url, 303)
