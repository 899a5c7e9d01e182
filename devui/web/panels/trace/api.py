"""Spans and traces as JSON, and traces received from other programs."""

import asyncio
import logging
import zlib
from dataclasses import asdict
from typing import Any, Final, NotRequired

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from typing_extensions import TypedDict

from devui.debugger.events.news import SessionRemade
from devui.debugger.events.otlp import resource_spans, span
from devui.debugger.events.spans import request_and_answers, sent_and_result
from devui.debugger.otlp_import import conventions
from devui.debugger.otlp_import.composer import compose
from devui.debugger.otlp_import.protobuf import (
    BadProtobuf,
    decode_request,
    encoded_answer,
    encoded_status,
)
from devui.debugger.otlp_import.spans import BadTrace, ReceivedSpan, spans_in
from devui.debugger.secrets.fragments import clean_answers
from devui.store.errors import BadValue
from devui.store.imports import NewTrace, SessionIdTaken
from devui.store.rows import SpanRow
from devui.web.errors import BadRequest, EdgeError, NotFound, TooLarge, UnsupportedMedia
from devui.web.json_answers import answer
from devui.web.lookup import session_of
from devui.web.operation import Query, Refusal, operation
from devui.web.panels.runs.api import number_in
from devui.web.security.intake import parse_json
from devui.web.services import Services, services_of
from devui.web.text.numbers import whole_number
from devui.web.uploads import limit_chunks
from devui.wire.spans import SpanKind

_log = logging.getLogger(__name__)

PROTOBUF: Final = "application/x-protobuf"
_JSON: Final = "application/json"
_LIMIT: Final = 16_000_000
"""Maximum bytes of a body as received."""
_UNPACKED: Final = 64_000_000
"""Maximum bytes of a decompressed body."""
_NAMED: Final = 5
"""Maximum number of refused spans named in the answer."""
_CODES: Final = {400: 3, 413: 3, 415: 3}
"""google.rpc.Code by status: an invalid argument."""


class PartialSuccessJson(TypedDict):
    """The spans that weren't accepted."""

    rejectedSpans: str
    """Their number, as text as in OTLP."""
    errorMessage: str


class TraceExportJson(TypedDict):
    """The outcome; empty if all spans were accepted."""

    partialSuccess: NotRequired[PartialSuccessJson]


class StatusJson(TypedDict):
    """Why no span was accepted: a google.rpc.Status."""

    code: int
    message: str


@operation(
    TraceExportJson,
    refusals=(
        Refusal(400, "The body isn't an export request", StatusJson),
        Refusal(413, "The body is too large", StatusJson),
        Refusal(
            415, "The body is neither protobuf nor JSON, or its compression isn't gzip", StatusJson
        ),
    ),
)
async def take_otlp(request: Request) -> Response:
    """Save exported spans as sessions.

    An OTLP export request, as protobuf or JSON, optionally gzipped:
    [sessions of agents that ran elsewhere](opentelemetry.md#receive-traces). Rejected spans are
    counted in `partialSuccess`; errors follow OTLP.
    """
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if media not in {PROTOBUF, _JSON}:
            raise UnsupportedMedia(f"the body must be sent as {PROTOBUF} or {_JSON}")
        spans, rejections = await asyncio.to_thread(_spans, await _body(request), media)
    except EdgeError as error:
        return _failure(error, media)
    rejections += await _keep(services_of(request), spans)
    why = "; ".join(rejections[:_NAMED])
    if rejections:
        _log.warning("%s received spans were not taken: %s", len(rejections), why)
    if media == PROTOBUF:
        return Response(encoded_answer(len(rejections), why), media_type=PROTOBUF)
    partial = {"rejectedSpans": str(len(rejections)), "errorMessage": why}
    return JSONResponse({"partialSuccess": partial} if rejections else {})


async def _keep(services: Services, spans: list[ReceivedSpan]) -> list[str]:
    """Store the spans as sessions; return why some weren't accepted."""
    traces: dict[tuple[str, str], list[ReceivedSpan]] = {}
    for each in spans:
        traces.setdefault((each.service, each.trace), []).append(each)
    rejections, words_of = [], services.runs.words_of
    for (service, trace), own in traces.items():
        try:
            sessions = (name for span in own if (name := conventions.session_of(span)))
            new = NewTrace(
                trace=trace,
                app=service,
                session=next(sessions, None),
                spans={span.id: span.to_json() for span in own},
            )
            key = await services.journal.received.take(new, lambda texts: compose(texts, words_of))
            if key is not None:
                services.bus.publish(key, SessionRemade(key))
        except (SessionIdTaken, BadValue) as error:
            rejections += [str(error)] * len(own)
        except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
            _log.warning("trace %s cannot be made a session of", trace, exc_info=True)
            rejections += [f"trace {trace}: its attributes can't be read: {error}"] * len(own)
    return rejections


def _spans(body: bytes, media: str) -> tuple[list[ReceivedSpan], list[str]]:
    try:
        document = (
            decode_request(body) if media == PROTOBUF else parse_json(body, allow_runtime_json=True)
        )
        return spans_in(document)
    except (BadProtobuf, BadTrace) as error:
        raise BadRequest(f"the body isn't an export request: {error}") from error


async def _body(request: Request) -> bytes:
    encoding = request.headers.get("content-encoding", "identity").lower()
    if encoding not in {"identity", "gzip"}:
        raise UnsupportedMedia("the body can only be compressed with gzip")
    body = bytearray()
    async for chunk in limit_chunks(request, _LIMIT):
        body += chunk
    if encoding == "identity":
        return bytes(body)
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        data = await asyncio.to_thread(unpacking.decompress, bytes(body), _UNPACKED)
    except zlib.error as error:
        raise BadRequest(f"the body isn't valid gzip: {error}") from error
    if unpacking.unconsumed_tail:
        raise TooLarge(_UNPACKED)
    if not unpacking.eof:
        raise BadRequest("the body isn't valid gzip: it is truncated")
    return data


def _failure(error: EdgeError, media: str) -> Response:
    """Return the error in OTLP's form: a google.rpc.Status."""
    code, message = _CODES.get(error.status, 3), str(error.detail)
    if media == PROTOBUF:
        content = encoded_status(code, message)
        return Response(content, error.status, error.headers, PROTOBUF)
    return JSONResponse({"code": code, "message": message}, error.status, error.headers)


MOST = 1000
"""Maximum number of spans in one answer."""


class SpanJson(TypedDict):
    """A call of an agent, model or tool."""

    id: int
    """Ids increase with the start of spans."""
    run: str
    number: int
    """Unique in the run, from 1."""
    parent: int | None
    """The number of the enclosing span, in the same run."""
    type: SpanKind
    name: str
    """The name of the agent, model or tool."""
    agent: str
    branch: str | None
    call: str | None
    """The function call id of a tool."""
    event: int | None
    """The number of the event that it produced."""
    began: float
    """Seconds since the epoch."""
    seconds: float | None
    """Null while it is active, and if the run ended without reporting it."""
    first: float | None
    """Seconds to the first chunk of a model's answer."""
    error: str | None


class SpanWithBodiesJson(SpanJson):
    """A span with its request and response."""

    sent: Any
    """A tool's arguments, or a model's request after the last callback: model, stream,
    system, tools, config, contents. Null if it isn't stored."""
    result: Any
    """A tool's result, or a model's responses, as `[seconds, response]` each."""


class SpansJson(TypedDict):
    """Spans, ordered by their start."""

    spans: list[SpanJson]


class TraceJson(TypedDict):
    """Spans in OTLP's form."""

    resourceSpans: list[dict[str, Any]]


@operation(
    SpansJson,
    query={
        "after": Query(int, "Only spans with a higher id; at most 1,000 are returned"),
        "event": Query(int, "Only those that produced this event; in a fork also the parent's"),
    },
    refusals=(Refusal(400, "A parameter is not a whole number"),),
)
async def every(request: Request) -> Response:
    """List the spans of agents, models, and tools."""
    services, session = await session_of(request)
    event, after = number_in(request, "event"), number_in(request, "after")
    if event is not None:
        rows = await services.journal.spans.of_event(session.key, event)
    else:
        rows = await services.journal.spans.list(session.key, after=after or 0, limit=MOST)
    return answer({"spans": [_span(row) for row in rows]})


@operation(TraceJson, query={"run": Query(str, "Only those of this run")})
async def trace(request: Request) -> Response:
    """Export spans as OTLP JSON.

    The spans have the attributes of OpenTelemetry's conventions for generative AI, without message
    content.
    """
    services, session = await session_of(request)
    run = request.query_params.get("run")
    spans = services.journal.spans
    rows = await (spans.of_run(session.key, run) if run else spans.every(session.key))
    otlp_spans = []
    for row in rows:
        bodies = await request_and_answers(services.journal, row) if row.type == "model" else ()
        otlp_spans.append(await asyncio.to_thread(span, session, row, *bodies))
    return answer(resource_spans(session, otlp_spans))


@operation(SpanWithBodiesJson)
async def show(request: Request) -> Response:
    """Get one span, with its request and response."""
    services, session = await session_of(request)
    number = whole_number(request.path_params["span"])
    row = await services.journal.spans.get(session.key, number) if number is not None else None
    if row is None:
        raise NotFound(f"session {session.key} has no span {request.path_params['span']}")
    payload, result = await sent_and_result(services.journal, row)
    clean_answers(result, services.view.hiding())
    return answer({**_span(row), "sent": payload, "result": result})


def _span(row: SpanRow) -> dict[str, Any]:
    members = asdict(row)
    del members["session"]
    return members
