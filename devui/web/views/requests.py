"""What went to models and where the time went, as pieces that the page asks for."""

from starlette.requests import Request
from starlette.responses import Response

from devui.store.rows import SpanRow
from devui.web.errors import NotFound
from devui.web.presenters.request import block_body, raw_request
from devui.web.presenters.trace import trace_panel
from devui.web.services import Services
from devui.web.text.numbers import whole_number
from devui.web.views.lookup import event_of, session_of


async def raw(request: Request) -> Response:
    """The whole request as JSON text."""
    found, span = await _model_call(request)
    return found.render.page(await raw_request(found, span))


async def block(request: Request) -> Response:
    """The system instruction, or one message, in full."""
    found, span = await _model_call(request)
    position = whole_number(request.path_params["position"])
    body = await block_body(found, span, position) if position is not None else None
    if body is None:
        raise NotFound("there is no such block in this request")
    return found.render.page(body)


async def trace(request: Request) -> Response:
    """The waterfall of the run of `?event=NUMBER`, or of the newest run."""
    found, session = await session_of(request)
    row = await event_of(found, session, request.query_params.get("event"))
    return found.render.page(await trace_panel(found, session, row))


async def _model_call(request: Request) -> tuple[Services, SpanRow]:
    found, session = await session_of(request)
    wanted = whole_number(request.path_params["span"])
    span = await found.journal.spans.get(session.key, wanted) if wanted is not None else None
    if span is None or span.type != "model":
        raise NotFound(f"session {session.key} has no model call {request.path_params['span']}")
    return found, span
