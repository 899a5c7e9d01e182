"""Requests to models: blocks and raw text for the page."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.store.rows import SpanRow
from devui.web.errors import NotFound
from devui.web.htmx import opens_page
from devui.web.links import block_file_url, session_url
from devui.web.lookup import session_of
from devui.web.panels.artifacts.views import file_answer, path_in
from devui.web.panels.request import panel
from devui.web.panels.request.panel import block_body, raw_request, request_panel
from devui.web.services import Services
from devui.web.text.numbers import whole_number


async def newest(request: Request) -> Response:
    """Return the tab while no event is selected."""
    services, session = await session_of(request)
    if opens_page(request.headers):
        return RedirectResponse(session_url(session.key, tab="request"), 303)
    against = whole_number(request.query_params.get("with"))
    return services.render.page(await request_panel(services, session, None, against))


async def raw(request: Request) -> Response:
    """Return the whole request as JSON text."""
    services, span = await _model_call(request)
    return services.render.page(await raw_request(services, span))


async def block(request: Request) -> Response:
    """Return the system instruction, or one message, in full."""
    services, span = await _model_call(request)
    position = whole_number(request.path_params["position"])
    body = await block_body(services, span, position) if position is not None else None
    if body is None:
        raise NotFound("there is no such block in this request")
    return services.render.page(body)


async def block_file(request: Request) -> Response:
    """Serve the `inlineData` at `?path=` in a block of a request."""
    services, span = await _model_call(request)
    position, path = whole_number(request.path_params["position"]), path_in(request)
    file = None if position is None else await panel.block_file(services, span, position, path)
    href = block_file_url(span.session, span.id, position or 0, path)
    return await file_answer(request, file, href)


async def _model_call(request: Request) -> tuple[Services, SpanRow]:
    services, session = await session_of(request)
    number = whole_number(request.path_params["span"])
    span = await services.journal.spans.get(session.key, number) if number is not None else None
    if span is None or span.type != "model":
        raise NotFound(f"session {session.key} has no model call {request.path_params['span']}")
    return services, span
