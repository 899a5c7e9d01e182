"""Whether telemetry is on; if it is off, it costs a run only a look-up (adk-runtime 13)."""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable

    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_response import LlmResponse

    Events = AsyncGenerator[Event, None]
    Answers = AsyncGenerator[LlmResponse, None]

logger = logging.getLogger(__name__)


class Instruments(Protocol):
    """Emits a run's telemetry. Agents, nodes and contexts are `Any`: they are of a higher layer."""

    def turn(self, root: Any, session: str, run_config: Any, events: Events, /) -> Events:
        """Trace the events of a whole turn."""

    def agent(self, agent: Any, ctx: Any, events: Events, /) -> Events:
        """Trace the events of an agent."""

    def handed_over(self, source: Any, events: Events, /) -> Events:
        """Trace the events of an agent that `source` transferred to."""

    async def node(self, run: Any, work: Awaitable[None], /) -> None:
        """Trace one attempt of a node."""

    def model_call(self, ctx: Any, request: Any, event: Event, answers: Answers, /) -> Answers:
        """Trace a model call with its callbacks."""

    def inference(self, ctx: Any, request: Any, event: Event, answers: Answers, /) -> Answers:
        """Trace the model's own answers."""

    def tool(self, ctx: Any, tool: Any, args: dict[str, Any], /) -> Any:
        """Start the span of a tool call."""

    def record_merge(self, ctx: Any, event: Event, /) -> None:
        """Record that the responses of several calls became one event."""

    async def summary(self, about: Any, trigger: Any, work: Any, /) -> Any:
        """Trace the summary of old events."""


_cache: list[Instruments | None] = []


def instruments() -> Instruments | None:
    """Return the instruments, or None until a provider for spans or metrics is set up.

    Code that sets up a provider has imported OpenTelemetry, so finding that there is no provider
    imports nothing.
    """
    if _cache:
        return _cache[0]
    tracing, metrics = map(sys.modules.get, ("opentelemetry.trace", "opentelemetry.metrics"))
    if tracing is None or metrics is None:
        return None
    if _is_stand_in(tracing.get_tracer_provider()) and _is_stand_in(metrics.get_meter_provider()):
        return None
    result: Instruments | None = None
    try:
        result = import_module("devui.runtime.telemetry.instruments").Instruments()
    except (ImportError, AttributeError, TypeError) as error:  # OpenTelemetry is too old
        logger.warning(
            "Spans and metrics are disabled: OpenTelemetry cannot be used (%s). Update it with"
            " `pip install --upgrade opentelemetry-sdk`.",
            error,
        )
    _cache.append(result)
    return result


def _is_stand_in(provider: object) -> bool:
    """Return whether a provider is the default placeholder; that for metrics has no public name."""
    return "Proxy" in type(provider).__name__
