"""Notices of the server as a whole: putting one away."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.news import APPS, NoticesChanged
from devui.web.htmx import HtmxRequest
from devui.web.presenters.servernotices import server_notices
from devui.web.security.intake import read_form
from devui.web.services import services


async def seen(request: Request) -> Response:
    """Show a notice no more; one that is not shown is none to put away."""
    found = services(request)
    name = str((await read_form(request)).get("seen") or "")
    if name in {each.seen for each in server_notices(found) if each.seen}:
        found.put_away.put(name)
        found.bus.publish(APPS, NoticesChanged())
    if HtmxRequest.read(request.headers):
        return Response(status_code=204)
    return RedirectResponse("/", status_code=303)
