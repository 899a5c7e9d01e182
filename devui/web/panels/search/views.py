"""`/search`: events of all sessions that match a filter."""

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.search.by_tag import SearchInput
from devui.web.links import search_url
from devui.web.lookup import theme_of
from devui.web.panels.search.panel import fill_page, fill_with_tagged
from devui.web.panels.search.parts import SearchPage
from devui.web.services import services_of
from devui.web.text.numbers import whole_number


async def show(request: Request) -> Response:
    """Return the search field and its results."""
    services = services_of(request)
    search = SearchInput.read(request.query_params.get("q"))
    before = whole_number(request.query_params.get("before"))
    page = SearchPage(
        theme=theme_of(request),
        text=search.text,
        error=search.events.error,
        named_sessions=(),
        sessions=(),
        total="",
        older_href="",
        is_older=before is not None,
        again_href=search_url(search.text, before=before),
        percent=100,
    )
    if search.events.filter is not None:
        page = await fill_page(
            services, page, search, event_filter=search.events.filter, before=before
        )
    elif search.tags and not search.events.error:
        page = await fill_with_tagged(services, page, search)
    return services.render.page(page)
