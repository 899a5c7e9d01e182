"""`/search`: events of all sessions that match a filter."""

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.predicates.filters import FilterInput
from devui.web.links import search_url
from devui.web.lookup import theme_of
from devui.web.panels.search.panel import fill_page
from devui.web.panels.search.parts import SearchPage
from devui.web.services import services_of
from devui.web.text.numbers import whole_number


async def show(request: Request) -> Response:
    """Return the search field and its results."""
    services = services_of(request)
    filter_field = FilterInput.read(request.query_params.get("q"))
    before = whole_number(request.query_params.get("before"))
    page = SearchPage(
        theme=theme_of(request),
        text=filter_field.text,
        error=filter_field.error,
        named_sessions=(),
        sessions=(),
        total="",
        older_href="",
        is_older=before is not None,
        again_href=search_url(filter_field.text, before=before),
        percent=100,
    )
    if filter_field.filter is not None:
        page = await fill_page(services, page, filter_field.filter, before)
    return services.render.page(page)
