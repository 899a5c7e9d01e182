"""The graph as a fragment of the session's page and of the app's page."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.workers.workers import AppBroken
from devui.web.htmx import opens_page
from devui.web.links import session_url
from devui.web.lookup import event_of, session_of
from devui.web.panels.apps.piece import shown_of_app
from devui.web.panels.graph.panel import app_graph, app_info, graph_panel
from devui.web.panels.graph.parts import GraphPanel
from devui.web.panels.inspector.parts import Hint
from devui.web.services import Services, services_of


async def show(request: Request) -> Response:
    """Show the graph as of `?event=NUMBER`, or as of now."""
    services, session = await session_of(request)
    row = await event_of(services, session, request.query_params.get("event"))
    if opens_page(request.headers):
        number = row.number if row else None
        return RedirectResponse(session_url(session.key, event=number, tab="graph"), 303)
    return services.render.page(await graph_panel(services, session, row))


async def of_app(request: Request) -> Response:
    """Show the structure of an app, loading the app if necessary."""
    services, app = services_of(request), request.path_params["app"]
    services.apps.require(app)
    return shown_of_app(request, app, "Graph", await _app_graph(services, app))


async def _app_graph(services: Services, app: str) -> GraphPanel | Hint:
    try:
        await services.workers.worker(app)
    except AppBroken as error:
        return Hint("Can't draw the app", str(error))
    info = app_info(services, app)
    if info is None:
        return Hint("Can't draw the app", "The app isn't loaded.")
    return app_graph(info)
