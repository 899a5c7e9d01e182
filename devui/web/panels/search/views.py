"""`/search`: events of all sessions that match a filter."""

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.predicates.filters import Typed
from devui.web.links import search_url
from devui.web.lookup import theme_of
from devui.web.panels.search.panel import filled
from devui.web.panels.search.parts import SearchPage
from devui.web.services import services_of
from devui.web.text.numbers import whole_number


async def show(request: Request) -> Response:
    """The field, and its results."""
    services = services_of(request)
    typed = Typed.read(request.query_params.get("q"))
    before = whole_number(request.query_params.get("before"))
    page = SearchPage(
        theme=theme_of(request),
        text=typed.text,
        error=typed.error,
        named=(),
        sessions=(),
        older_href="",
        is_older=before is not None,
        again_href=search_url(typed.text, before=before),
        percent=100,
    )
    if typed.filter is not None:
        page = await filled(services, page, typed.filter, before)
    return services.render.page(page)
