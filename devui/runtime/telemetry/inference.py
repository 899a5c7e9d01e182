"""The contents of spans and log records of model calls (adk-runtime 13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from opentelemetry import _logs, trace
from opentelemetry._logs import LogRecord
from pydantic import BaseModel

from devui.runtime.telemetry import messages
from devui.runtime.telemetry.messages import (
    TokenUsage,
    provider_of,
    reason_of,
    system_of,
    usage_of,
    usage_of_call,
)
from devui.runtime.version import __version__

if TYPE_CHECKING:
    from google.genai import types
    from opentelemetry.trace import Span

    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.models.llm_response import LlmResponse
    from devui.runtime.telemetry.context import TelemetryConfig


# Log records of model calls, for what spans leave out (adk-runtime 13).


_WITHHELD = "<elided>"


class Records:
    """Emits log records, if a provider for logs is set up."""

    def __init__(self, scope: str, conventions: str) -> None:
        """Get the logger named `scope`, with the schema URL `conventions`."""
        self._logger = _logs.get_logger(scope, __version__, schema_url=conventions)

    def details(self, attributes: Mapping[str, Any], span: Span) -> None:
        """Emit the details of a call that has ended."""
        self._emit("gen_ai.client.inference.operation.details", dict(attributes), None, span)

    def request(self, request: LlmRequest, user: str, config: TelemetryConfig) -> None:
        """Emit a request under the older conventions, with a record for each content."""
        about = {"gen_ai.system": system_of(request.model)}
        with_content = config.should_add_content_to_logs
        body = _content(request.config.system_instruction, with_content)
        self._emit("gen_ai.system.message", about, body)
        attributes = about | ({"user.id": user} if with_content else {})
        for content in request.contents:
            self._emit("gen_ai.user.message", attributes, _content(content, with_content))

    def choice(
        self, response: LlmResponse, model: str | None, span: Span, config: TelemetryConfig
    ) -> None:
        """Emit a response under the older conventions."""
        body = _content(response.content, config.should_add_content_to_logs) | {"index": 0}
        if (reason := reason_of(response)) is not None:
            body["finish_reason"] = reason.value
        self._emit("gen_ai.choice", {"gen_ai.system": system_of(model)}, body, span)

    def _emit(self, name: str, about: dict[str, Any], body: Any, span: Span | None = None) -> None:
        context = None if span is None else trace.set_span_in_context(span)
        record = LogRecord(event_name=name, body=body, attributes=about, context=context)
        self._logger.emit(record)


def _content(content: Any, with_content: bool) -> dict[str, Any]:
    if not with_content:
        return {"content": _WITHHELD}
    body = [_dumped(each) for each in content] if isinstance(content, list) else _dumped(content)
    return {"content": body}


def _dumped(content: Any) -> Any:
    return content.model_dump() if isinstance(content, BaseModel) else content


_OPERATION = "gen_ai.operation.name"
_MODEL = "gen_ai.request.model"
_REASONS = "gen_ai.response.finish_reasons"
_SECRET_OPTIONS = {
    "httpx_client",
    "httpx_async_client",
    "aiohttp_client",
    "headers",
    "extra_body",
    "client_args",
    "async_client_args",
}
"""HTTP options that may contain keys."""


@dataclass(frozen=True, slots=True)
class Common:
    """The attributes of a call that are known before its answer."""

    about: dict[str, Any]
    """Attributes of the run, for both the span and the log record."""
    on_span: dict[str, Any]
    user: str


def common_attributes(
    ctx: InvocationContext, request: LlmRequest, event: Event, config: TelemetryConfig
) -> Common:
    """Return the attributes of a call whose answer will become `event`."""
    latest = config.should_use_experimental_genai_semconv
    about = {
        "gen_ai.agent.name": ctx.agent.name if ctx.agent else "",
        "gen_ai.conversation.id": ctx.session.id,
        "gcp.vertex.agent.event_id": event.id,
        "gcp.vertex.agent.invocation_id": ctx.invocation_id,
    }
    if latest and not config.uses_legacy_schema:
        about["gen_ai.provider.name"] = provider_of(request.model)
    on_span: dict[str, Any] = {_OPERATION: "generate_content", _MODEL: request.model or "", **about}
    if not latest:
        on_span["gen_ai.system"] = system_of(request.model)
    settings = request.config
    if settings.top_p is not None:
        on_span["gen_ai.request.top_p"] = settings.top_p
    if settings.max_output_tokens is not None:
        on_span["gen_ai.request.max_tokens"] = settings.max_output_tokens
    return Common(about, on_span, ctx.session.user_id)


@dataclass(slots=True)
class Inference:
    """One model call, from the request to the answer with a finish reason."""

    span: Span
    request: LlmRequest
    common: Common
    config: TelemetryConfig
    records: Records
    responses: list[LlmResponse] = field(default_factory=list)
    _details: dict[str, Any] = field(default_factory=dict)
    _result: dict[str, Any] = field(default_factory=dict)
    _has_ended: bool = False

    def __post_init__(self) -> None:
        """Record the request."""
        if self.config.should_use_experimental_genai_semconv:
            self._details = messages.request_details(self.request)
        else:
            self.records.request(self.request, self.common.user, self.config)

    @property
    def usage(self) -> TokenUsage | None:
        """The tokens that the call has used; None if the model didn't report any."""
        return usage_of_call(self.responses)

    def take(self, response: LlmResponse) -> None:
        """Record a fragment or a complete answer."""
        self.responses.append(response)
        if self._has_ended:
            return
        self.span.set_attributes(result_attributes(response))
        if not self.config.should_use_experimental_genai_semconv:
            model = response.model_version or self.request.model
            self.records.choice(response, model, self.span, self.config)
        else:
            self._note(response)
        if messages.reason_of(response) is not None:
            self.end()

    def _note(self, response: LlmResponse) -> None:
        if reason := messages.finish_reason(response):
            self._result[_REASONS] = [reason]
        if usage := usage_of(response):
            self._result |= usage.attributes()
        if (message := messages.output_message(response)) is not None:
            self._details.setdefault(messages.OUTPUT, []).append(message)

    def end(self) -> None:
        """End the span, once."""
        if self._has_ended:
            return
        self._has_ended = True
        if self.config.should_use_experimental_genai_semconv:
            self._tell_details()
        self.span.end()

    def _tell_details(self) -> None:
        in_logs = self.config.should_add_content_to_logs
        common = self.common.about | ({"user.id": self.common.user} if in_logs else {})
        without = messages.without_content(self._details)
        details = self._details if in_logs else without
        self.records.details(common | self._result | details, self.span)
        in_span = self.config.should_add_content_to_experimental_spans
        for key, value in (self._details if in_span else without).items():
            self.span.set_attribute(key, messages.json_of(value))


def result_attributes(response: LlmResponse) -> dict[str, Any]:
    """Return the attributes for the finish reason and the tokens used."""
    usage, reason = usage_of(response), messages.reason_of(response)
    reasons = {} if reason is None else {_REASONS: [reason.lower()]}
    return reasons | (usage.attributes() if usage else {})


def call_attributes(
    ctx: InvocationContext,
    event: Event,
    request: LlmRequest,
    response: LlmResponse,
    *,
    config: TelemetryConfig,
) -> dict[str, Any]:
    """Return the attributes of schema 1's `call_llm`."""
    settings, with_content = request.config, config.should_add_content_to_legacy_spans
    about: dict[str, Any] = {
        "gen_ai.system": "gcp.vertex.agent",
        "gcp.vertex.agent.invocation_id": ctx.invocation_id,
        "gcp.vertex.agent.session_id": ctx.session.id,
        "gcp.vertex.agent.event_id": event.id,
        "gcp.vertex.agent.llm_request": _request_text(request) if with_content else "{}",
        "gcp.vertex.agent.llm_response": _response_text(response) if with_content else "{}",
    }
    thinking = settings.thinking_config
    counts = {
        _MODEL: request.model,
        "gen_ai.request.top_p": settings.top_p or None,
        "gen_ai.request.max_tokens": settings.max_output_tokens or None,
        "gen_ai.usage.experimental.reasoning_tokens_limit": (
            thinking.thinking_budget if thinking else None
        ),
    }
    about |= {key: value for key, value in counts.items() if value is not None}
    return about | result_attributes(response)


def _request_text(request: LlmRequest) -> str:
    """Serialize the request without files, thought signatures and what may contain keys."""
    exclude: Any = {"response_schema": True, "http_options": _SECRET_OPTIONS}
    config = request.config.model_dump(exclude_none=True, exclude=exclude, mode="json")
    contents = [
        {
            **({"role": content.role} if content.role else {}),
            "parts": [_dump(part) for part in content.parts or () if not part.inline_data],
        }
        for content in request.contents
    ]
    sorted_contents = [dict(sorted(each.items())) for each in contents]
    return messages.text_of({"model": request.model, "config": config, "contents": sorted_contents})


def _response_text(response: LlmResponse) -> str:
    """Serialize the response, with files replaced by their sizes."""
    if response.content is None:
        return response.model_dump_json(exclude_none=True)
    parts = [_without_data(part) for part in response.content.parts or ()]
    content = response.content.model_copy(update={"parts": parts})
    return response.model_copy(update={"content": content}).model_dump_json(exclude_none=True)


def _without_data(part: types.Part) -> types.Part:
    if (blob := part.inline_data) is None:
        return part.model_copy(update={"thought_signature": None})
    size = f"{len(blob.data or b'')} bytes"
    text = f"<inline_data: {blob.mime_type or 'unknown'}, {size}>"
    return type(part)(text=text)


def _dump(part: types.Part) -> dict[str, Any]:
    return part.model_dump(exclude_none=True, exclude={"thought_signature"}, mode="json")
