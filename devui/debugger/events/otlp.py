"""Spans as OTLP JSON, with the attributes of OpenTelemetry's conventions for generative AI.

Any trace viewer can read this. The contents of messages are left out: they may be private, and the
conventions keep them apart, too.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, Final

from devui.debugger.events.spans import SentRequest
from devui.debugger.events.usage import usage_of
from devui.store.rows import SessionRow, SpanRow
from devui.wire.events import Event

_OPERATIONS: Final = {"agent": "invoke_agent", "model": "chat", "tool": "execute_tool"}
_INTERNAL, _CLIENT = 1, 3
_ERROR: Final = 2
_NANOSECONDS: Final = 1_000_000_000
_SETTINGS: Final = {
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "maxOutputTokens": "max_tokens",
    "frequencyPenalty": "frequency_penalty",
    "presencePenalty": "presence_penalty",
    "seed": "seed",
    "stopSequences": "stop_sequences",
}
"""Settings of a request, with their names in the conventions, after `gen_ai.request.`."""


def resource_spans(session: SessionRow, spans: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return an OTLP export request with the spans, which come from `span`."""
    about = {
        "service.name": f"devui {session.app}",
        "devui.app": session.app,
        "devui.session": session.id,
    }
    scope = {"scope": {"name": "devui"}, "spans": list(spans)}
    resource = {"attributes": list(_attributes(about))}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def span(
    session: SessionRow,
    row: SpanRow,
    request: SentRequest | None = None,
    answers: str | None = None,
) -> dict[str, Any]:
    """Return a row as an OTLP span. A model call takes its request, and its responses as JSON."""
    operation = _OPERATIONS[row.type]
    record = {
        "traceId": _id(row.run, 16),
        "spanId": _span_id(row, row.number),
        "name": f"{operation} {row.name}".strip(),
        "kind": _CLIENT if row.type == "model" else _INTERNAL,
        "startTimeUnixNano": _nanoseconds(row.began),
        "endTimeUnixNano": _nanoseconds(row.began + (row.seconds or 0.0)),
        "attributes": list(_attributes(_about(session, row, request, answers))),
        "status": {"code": _ERROR, "message": row.error} if row.error else {},
    }
    return record if row.parent is None else {**record, "parentSpanId": _span_id(row, row.parent)}


def _about(
    session: SessionRow, row: SpanRow, request: SentRequest | None, answers: str | None
) -> dict[str, Any]:
    about: dict[str, Any] = {
        "gen_ai.operation.name": _OPERATIONS[row.type],
        "gen_ai.conversation.id": session.id,
        "gen_ai.agent.name": row.agent,
        "devui.run": row.run,
        "devui.event": row.event,
        "devui.branch": row.branch,
        "devui.open": True if row.seconds is None else None,
        "error.type": row.error.partition(":")[0] if row.error else None,
    }
    if row.type == "tool":
        about |= {"gen_ai.tool.name": row.name, "gen_ai.tool.call.id": row.call}
    if row.type == "model":
        about |= {"gen_ai.request.model": row.name, "devui.time_to_first_chunk": row.first}
        about |= _settings(request) | _answer(answers)
    return about


def _settings(request: SentRequest | None) -> dict[str, Any]:
    settings = json.loads(request.config.text) if request and request.config else {}
    config = settings if isinstance(settings, Mapping) else {}  # a bundle may contain anything
    return {f"gen_ai.request.{name}": config.get(key) for key, name in _SETTINGS.items()}


def _answer(answers: str | None) -> dict[str, Any]:
    responses = [each for _, each in json.loads(answers or "[]") if isinstance(each, Mapping)]
    last = responses[-1] if responses else {}
    finish = last.get("finishReason")
    about = {
        "gen_ai.response.model": last.get("modelVersion"),
        "gen_ai.response.finish_reasons": [str(finish).lower()] if finish else None,
    }
    usage = next(
        (tokens for each in reversed(responses) if (tokens := usage_of(Event.of(each)))), None
    )
    if usage is None:
        return about
    return about | {
        "gen_ai.usage.input_tokens": usage.prompt,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cached,
    }


def _attributes(values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for key, value in values.items():
        if value is not None:
            yield {"key": key, "value": _value(value)}


def _value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_value(each) for each in value]}}
    return {"stringValue": str(value)}


def _nanoseconds(seconds: float) -> str:
    return str(round(seconds * _NANOSECONDS))


def _span_id(row: SpanRow, number: int) -> str:
    return _id(f"{row.run} {number}", 8)


def _id(text: str, size: int) -> str:
    return blake2b(text.encode(), digest_size=size).hexdigest()
