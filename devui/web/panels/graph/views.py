"""The graph as a piece of the session's page and of the app's."""

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.workers.workers import AppBroken
from devui.web.lookup import event_of, session_of
from devui.web.panels.graph.panel import app_graph, app_info, graph_panel
from devui.web.panels.inspector.parts import Hint
from devui.web.services import services_of


async def show(request: Request) -> Response:
    """The graph as of `?event=NUMBER`, or as it is now."""
    services, session = await session_of(request)
    row = await event_of(services, session, request.query_params.get("event"))
    return services.render.page(await graph_panel(services, session, row))


async def of_app(request: Request) -> Response:
    """The structure of an app, which is loaded for it."""
    services, app = services_of(request), request.path_params["app"]
    services.apps.require(app)
    try:
        await services.workers.worker(app)
    except AppBroken as error:
        return services.render.page(Hint("Can't draw the app", str(error)))
    info = app_info(services, app)
    if info is None:
        return services.render.page(Hint("Can't draw the app", "The app isn't loaded."))
    return services.render.page(app_graph(info))
