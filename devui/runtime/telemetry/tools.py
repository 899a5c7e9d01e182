"""The spans of tool calls (adk-runtime 13)."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.trace import Span, Status, StatusCode

from devui.runtime.telemetry.messages import error_type, text_of

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.events.event import Event
    from devui.runtime.telemetry.context import TelemetryConfig
    from devui.runtime.tools.base_tool import BaseTool


# Which span is current while code runs, and how spans end (adk-runtime 13).


T = TypeVar("T")


@contextmanager
def attach(context: contexts.Context) -> Iterator[None]:
    """Make a context current. The caller must not yield to other code meanwhile."""
    token = contexts.attach(context)
    try:
        yield
    finally:
        contexts.detach(token)


async def within(
    context: contexts.Context, events: AsyncGenerator[T, None]
) -> AsyncGenerator[T, None]:
    """Yield the events, each produced in the context; their consumer stays in its own.

    A span that the producer opens around a `yield` is current again after it.
    """
    try:
        while True:
            token = contexts.attach(context)
            try:
                event = await anext(events)
            except StopAsyncIteration:
                return
            finally:
                context = contexts.get_current()
                contexts.detach(token)
            yield event
    finally:
        with attach(context):
            await events.aclose()


def seconds_of(span: Any, began: float) -> float:
    """Return how long an ended span took or, if it isn't recorded, the time since `began`."""
    start, end = getattr(span, "start_time", None), getattr(span, "end_time", None)
    if isinstance(start, int) and isinstance(end, int):
        return (end - start) / 1e9
    return time.monotonic() - began


def record(span: Span, error: Exception) -> None:
    """Record an error in a span, and mark the span as failed."""
    span.record_exception(error)
    span.set_status(Status(StatusCode.ERROR, f"{type(error).__name__}: {error}"))


_DESTINATION = "gcp.mcp.server.destination.id"
_UNKNOWN = "<not specified>"
_SEVERAL = "(merged tools)"


@dataclass(slots=True)
class ToolSpan:
    """The span of one tool call. It names the event with the response, which is created later."""

    span: Span
    tool: BaseTool
    arguments: Mapping[str, Any]
    agent: str
    config: TelemetryConfig
    count: Callable[[float, str | None], None]
    """Called with the duration in seconds and the type of the error, if any."""
    failure: str | None = None
    """The type of the error, if the tool failed."""
    _end_time: int | None = None
    """When the tool ended, in nanoseconds since the epoch."""

    async def over(self, run: Callable[[], Awaitable[T]]) -> T:
        """Run the tool. If it raises, the span ends here; otherwise, `end` ends it."""
        began = time.monotonic()
        try:
            with attach(trace.set_span_in_context(self.span)):
                return await run()
        except BaseException as error:
            if isinstance(error, Exception):
                self.failure = error_type(error)
                record(self.span, error)
            self._tell(None, None)
            self.span.end()
            raise
        finally:
            self._end_time = time.time_ns()
            self.count(time.monotonic() - began, self.failure)

    def end(self, part: types.Part | None, event: Event | None) -> None:
        """End the span with the response and the event that contains it."""
        if not self.span.is_recording():
            return
        response = part.function_response if part else None
        self._tell(response, event if response else None)
        if self.failure is not None:
            self.span.set_status(Status(StatusCode.ERROR, self.failure))
        self.span.end(self._end_time)

    def _tell(self, answer: types.FunctionResponse | None, event: Event | None) -> None:
        tool, response = self.tool, answer.response if answer else None
        about: dict[str, Any] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.description": tool.description,
            "gen_ai.tool.name": tool.name,
            "gen_ai.tool.type": type(tool).__name__,
            "gen_ai.agent.name": self.agent,
            "gen_ai.tool.call.id": (answer.id if answer else None) or _UNKNOWN,
        }
        if event is not None:
            about["gcp.vertex.agent.event_id"] = event.id
        if self.failure is not None:
            about["error.type"] = self.failure
        if tool.custom_metadata and _DESTINATION in tool.custom_metadata:
            about[_DESTINATION] = tool.custom_metadata[_DESTINATION]
        arguments, result = text_of(self.arguments), text_of(without_secrets(response))
        if self.config.uses_legacy_schema:
            with_content = self.config.should_add_content_to_legacy_spans
            nothing = text_of({"result": _UNKNOWN}) if response is None else result
            about |= _legacy(arguments if with_content else "{}", nothing if with_content else "{}")
        elif self.config.should_add_content_to_experimental_spans:
            about["gen_ai.tool.call.arguments"] = arguments
            if response is not None:
                about["gen_ai.tool.call.result"] = result
        self.span.set_attributes(about)

    @staticmethod
    def of_several(event: Event, config: TelemetryConfig) -> dict[str, Any]:
        """Return the attributes of an event with the responses of several calls."""
        about: dict[str, Any] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": _SEVERAL,
            "gen_ai.tool.description": _SEVERAL,
            "gen_ai.tool.call.id": event.id,
            "gcp.vertex.agent.event_id": event.id,
        }
        if not config.uses_legacy_schema:
            return about
        answers = [
            without_secrets(each.model_dump(exclude_none=True, mode="json"))
            for each in event.get_function_responses()
        ]
        with_content = config.should_add_content_to_legacy_spans
        return about | _legacy("N/A", text_of(answers) if with_content else "{}")


def _legacy(arguments: str, response: str) -> dict[str, str]:
    """Return the attributes of schema 1, including the empty ones that it has for `adk web`."""
    return {
        "gcp.vertex.agent.llm_request": "{}",
        "gcp.vertex.agent.llm_response": "{}",
        "gcp.vertex.agent.tool_call_args": arguments,
        "gcp.vertex.agent.tool_response": response,
    }


_CREDENTIALS = {
    "authType",
    "auth_type",
    "rawAuthCredential",
    "raw_auth_credential",
    "exchangedAuthCredential",
    "exchanged_auth_credential",
}


def without_secrets(value: Any) -> Any:
    """Redact what looks like an ADK credential in a value, since spans leave the machine."""
    if isinstance(value, Mapping):
        return {
            key: "<redacted>" if key in _CREDENTIALS else without_secrets(each)
            for key, each in value.items()
        }
    return [without_secrets(each) for each in value] if isinstance(value, list) else value
