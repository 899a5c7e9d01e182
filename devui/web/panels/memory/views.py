"""The memory of an app, as a piece of its page."""

from starlette.requests import Request
from starlette.responses import Response

from devui.web.panels.apps.piece import shown_of_app
from devui.web.panels.memory.panel import memory_panel
from devui.web.services import services_of


async def show(request: Request) -> Response:
    """Return the memories of `user`, or those that match `q`."""
    services, app, query = services_of(request), request.path_params["app"], request.query_params
    services.apps.require(app)
    user, words = query.get("user", "").strip() or "user", query.get("q", "").strip()
    return shown_of_app(request, app, "Memory", await memory_panel(services, app, user, words))
