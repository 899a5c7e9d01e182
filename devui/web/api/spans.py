"""What agents, models and tools did, over HTTP (docs/guide/api.md)."""

import asyncio
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.fragments import clean_answers
from devui.debugger.otlp import resource_spans, span
from devui.debugger.spans import request_and_answers, sent_and_result
from devui.store.rows import SpanRow
from devui.web.api.debug import answer, number_in
from devui.web.errors import NotFound
from devui.web.text.numbers import whole_number
from devui.web.views.lookup import session_of

MOST = 1000
"""How many spans one answer holds."""


async def every(request: Request) -> Response:
    """The session's spans: above the id `?after=`, or those that `?event=NUMBER` came of."""
    found, session = await session_of(request)
    event, after = number_in(request, "event"), number_in(request, "after")
    if event is not None:
        rows = await found.journal.spans.of_event(session.key, event)
    else:
        rows = await found.journal.spans.list(session.key, after=after or 0, limit=MOST)
    return answer({"spans": [_span(row) for row in rows]})


async def trace(request: Request) -> Response:
    """The session's spans as OTLP JSON; with `?run=ID` those of one run."""
    found, session = await session_of(request)
    run = request.query_params.get("run")
    spans = found.journal.spans
    rows = await (spans.of_run(session.key, run) if run else spans.every(session.key))
    made = []
    for row in rows:
        bodies = await request_and_answers(found.journal, row) if row.type == "model" else ()
        made.append(await asyncio.to_thread(span, session, row, *bodies))
    return answer(resource_spans(session, made))


async def show(request: Request) -> Response:
    """One span, with what was sent and what came back."""
    found, session = await session_of(request)
    wanted = whole_number(request.path_params["span"])
    row = await found.journal.spans.get(session.key, wanted) if wanted is not None else None
    if row is None:
        raise NotFound(f"session {session.key} has no span {request.path_params['span']}")
    sent, result = await sent_and_result(found.journal, row)
    clean_answers(result, found.veil.redactor())
    return answer({**_span(row), "sent": sent, "result": result})


def _span(row: SpanRow) -> dict[str, Any]:
    told = asdict(row)
    del told["session"]
    return told
