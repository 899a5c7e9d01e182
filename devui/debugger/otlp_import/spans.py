"""Reads the spans of an export request, and checks them one by one."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from devui.debugger.events.shape import LATEST

_TRACE: Final = re.compile(r"(?!0{32})[0-9a-f]{32}")
_SPAN: Final = re.compile(r"(?!0{16})[0-9a-f]{16}")
_FAILED: Final = {2, "STATUS_CODE_ERROR"}
_NANOSECONDS: Final = 1e9


class BadTrace(ValueError):
    """The body isn't a valid export request."""


@dataclass(frozen=True, slots=True)
class ReceivedSpan:
    """A span, with the name of its service."""

    trace: str
    id: str
    parent: str | None
    name: str
    start: float
    end: float
    service: str
    error: str | None
    """The error, if it failed."""
    attributes: dict[str, Any]

    @property
    def seconds(self) -> float:
        """Its duration."""
        return max(0.0, self.end - self.start)

    def to_json(self) -> str:
        """Return the span in its stored form."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "ReceivedSpan":
        """Parse a span from `to_json`."""
        return cls(**json.loads(text))


def spans_in(document: Any) -> tuple[list[ReceivedSpan], list[str]]:
    """Return the spans of a request in OTLP's JSON, and why others are refused; raises BadTrace."""
    spans, reasons = [], []
    for service, raw in _spans(document):
        try:
            spans.append(_span(service, raw))
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            name = raw.get("name") if isinstance(raw, Mapping) else None
            reasons.append(f"span {name!r}: {error}")
    return spans, reasons


def _spans(document: Any) -> Iterator[tuple[str, Any]]:
    for resource in _list(document, "resourceSpans"):
        try:
            about = _attributes(_member(resource, "resource", {}))
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            raise BadTrace(f"the attributes of a resource cannot be read: {error}") from error
        service = str(about.get("service.name") or "unknown_service")
        for scope in _list(resource, "scopeSpans"):
            for span in _list(scope, "spans"):
                yield service, span


def _list(value: Any, name: str) -> list[Any]:
    items = _member(value, name, [])
    if not isinstance(items, list):
        raise BadTrace(f"{name} is not a list")
    return items


def _member(value: Any, name: str, default: Any) -> Any:
    if not isinstance(value, Mapping):
        raise BadTrace(f"the parent of {name} is not an object")
    return value.get(name) or default


def _span(service: str, raw: Mapping[str, Any]) -> ReceivedSpan:
    start, end = (_seconds(raw, name) for name in ("startTimeUnixNano", "endTimeUnixNano"))
    return ReceivedSpan(
        trace=_id(raw, "traceId", _TRACE),
        id=_id(raw, "spanId", _SPAN),
        parent=_id(raw, "parentSpanId", _SPAN) if raw.get("parentSpanId") else None,
        name=str(raw.get("name") or ""),
        start=start,
        end=end,
        service=service,
        error=_error(raw),
        attributes=_attributes(raw),
    )


def _id(raw: Mapping[str, Any], name: str, pattern: re.Pattern[str]) -> str:
    value = str(raw.get(name) or "").lower()
    if not pattern.fullmatch(value):
        raise ValueError(f"{name} is not valid")
    return value


def _seconds(raw: Mapping[str, Any], name: str) -> float:
    seconds = int(raw.get(name) or 0) / _NANOSECONDS
    if not 0 < seconds < LATEST:
        raise ValueError(f"{name} is not a time")
    return seconds


def _error(raw: Mapping[str, Any]) -> str | None:
    """Return the exception of a failed span, or else its status message."""
    status = raw.get("status") or {}
    if status.get("code") not in _FAILED:
        return None
    for event in raw.get("events") or ():
        about = _attributes(event)
        if event.get("name") == "exception" and "exception.type" in about:
            kind = str(about["exception.type"]).rpartition(".")[2]
            return f"{kind}: {about.get('exception.message') or ''}".removesuffix(": ")
    return str(status.get("message") or "failed")


def _attributes(holder: Mapping[str, Any]) -> dict[str, Any]:
    return {
        str(each.get("key") or ""): _value(each.get("value") or {})
        for each in holder.get("attributes") or ()
    }


def _value(any_value: Mapping[str, Any]) -> Any:
    for kind, value in any_value.items():
        match kind:
            case "intValue":
                return int(value)
            case "doubleValue":
                number = float(value)
                return number if abs(number) < float("inf") else str(value)
            case "stringValue" | "bytesValue":
                return str(value)
            case "boolValue":
                return bool(value)
            case "arrayValue":
                return [_value(each) for each in value.get("values") or ()]
            case "kvlistValue":
                return {
                    str(each.get("key") or ""): _value(each.get("value") or {})
                    for each in value.get("values") or ()
                }
    return None
