"""Requests to models: blocks and raw text for the page."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.store.rows import SpanRow
from devui.web.errors import NotFound
from devui.web.htmx import opens_page
from devui.web.links import session_url
from devui.web.lookup import event_of, session_of
from devui.web.panels.request.panel import block_body, raw_request
from devui.web.panels.trace.panel import trace_panel
from devui.web.services import Services
from devui.web.text.numbers import whole_number


async def raw(request: Request) -> Response:
    """The whole request as JSON text."""
    services, span = await _model_call(request)
    return services.render.page(await raw_request(services, span))


async def block(request: Request) -> Response:
    """The system instruction, or one message, in full."""
    services, span = await _model_call(request)
    position = whole_number(request.path_params["position"])
    body = await block_body(services, span, position) if position is not None else None
    if body is None:
        raise NotFound("there is no such block in this request")
    return services.render.page(body)


async def trace(request: Request) -> Response:
    """The waterfall of the run of `?event=NUMBER`, or of the newest run."""
    services, session = await session_of(request)
    row = await event_of(services, session, request.query_params.get("event"))
    if opens_page(request.headers):
        number = row.number if row else None
        return RedirectResponse(session_url(session.key, event=number, tab="trace"), 303)
    return services.render.page(await trace_panel(services, session, row))


async def _model_call(request: Request) -> tuple[Services, SpanRow]:
    services, session = await session_of(request)
    wanted = whole_number(request.path_params["span"])
    span = await services.journal.spans.get(session.key, wanted) if wanted is not None else None
    if span is None or span.type != "model":
        raise NotFound(f"session {session.key} has no model call {request.path_params['span']}")
    return services, span
