"""The recorded spans of a session, as in ADK's `debug/trace` (adk-web 1.7)."""

from collections.abc import Iterable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from devui.debugger.events.spans import sent_and_result
from devui.store.rows import SessionRow, SpanRow
from devui.web.adk.answers import AdkSpanJson
from devui.web.adk.spans import RecordedSpan, Trace
from devui.web.errors import NotFound
from devui.web.operation import operation
from devui.web.services import Services, services_of


@operation(list[AdkSpanJson])
async def of_session(request: Request) -> Response:
    """List a session's finished spans; empty for an unknown session.

    Model messages are included as logs. Spans are stored in the journal, so they survive a restart.
    Below `/debug`, it searches the sessions of all apps. If several users have sessions with this
    id, it lists the spans of all of them.
    """
    services, app = services_of(request), request.path_params.get("app")
    spans = []
    for session in await services.journal.sessions.with_id(request.path_params["session"], app):
        rows = await services.journal.spans.every(session.key)
        recorded = await _with_payloads(services, rows)
        spans += (await _trace(services, session, rows)).spans(recorded)
    return JSONResponse(spans)


@operation(dict[str, Any])
async def of_event(request: Request) -> Response:
    """Get the attributes of the model or tool span that led to an event.

    They include `gcp.vertex.agent.llm_request` and `llm_response`, or `tool_call_args` and
    `tool_response`. Below `/debug`, it searches the sessions of all apps.
    """
    services, app = services_of(request), request.path_params.get("app")
    event = request.path_params["event"]
    for session in await services.journal.sessions.with_event(app, event):
        rows = await services.journal.spans.every(session.key)
        trace = await _trace(services, session, rows)
        event_rows = [row for row in rows if row.event and trace.events[row.event].id == event]
        if event_rows:
            model_calls = [
                row for row in rows if row.type == "model" and row.id < event_rows[-1].id
            ]
            [*before, last] = await _with_payloads(services, [*model_calls[-1:], event_rows[-1]])
            return JSONResponse(trace.attributes(last, before))
    raise NotFound("Trace not found")


async def _with_payloads(services: Services, rows: Iterable[SpanRow]) -> list[RecordedSpan]:
    return [RecordedSpan(row, *await sent_and_result(services.journal, row)) for row in rows]


async def _trace(services: Services, session: SessionRow, rows: Iterable[SpanRow]) -> Trace:
    numbers = {row.event for row in rows if row.event is not None}
    events = await services.journal.events.rows(session.key, numbers)
    info = (
        services.workers.status(session.app).info if session.app in services.apps.names() else None
    )
    agents = {agent.name: agent.description for agent in info.agents} if info else {}
    return Trace(session, {event.number: event for event in events}, agents)
