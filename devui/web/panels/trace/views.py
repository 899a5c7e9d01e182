"""The trace as a piece of the session page."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.web.htmx import opens_page
from devui.web.links import session_url
from devui.web.lookup import event_of, session_of
from devui.web.page_query import TRACE
from devui.web.panels.trace.panel import trace_panel


async def show(request: Request) -> Response:
    """Return the waterfall of the run of `?event=NUMBER`, or of the newest run."""
    services, session = await session_of(request)
    row = await event_of(services, session, request.query_params.get("event"))
    if opens_page(request.headers):
        query = request.url.include_query_params(view=TRACE).query
        return RedirectResponse(f"{session_url(session.key)}?{query}", 303)
    return services.render.page(await trace_panel(services, session, row))
