"""Whether anybody wants telemetry; if not, a run pays for a look-up (adk-runtime 13)."""

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
    """What a run tells of itself. Agents, nodes and contexts are `Any`: they stand above."""

    def turn(self, root: Any, session: str, run_config: Any, events: Events, /) -> Events:
        """The events of a whole turn."""

    def agent(self, agent: Any, ctx: Any, events: Events, /) -> Events:
        """The events of an agent."""

    def handed_over(self, source: Any, events: Events, /) -> Events:
        """The events of an agent that takes over from another."""

    async def node(self, run: Any, work: Awaitable[None], /) -> None:
        """One attempt of a node."""

    def model_call(self, ctx: Any, request: Any, event: Event, answers: Answers, /) -> Answers:
        """A call of a model with its callbacks."""

    def inference(self, ctx: Any, request: Any, event: Event, answers: Answers, /) -> Answers:
        """What the model itself answers."""

    def tool(self, ctx: Any, tool: Any, args: dict[str, Any], /) -> Any:
        """A span for a call of a tool."""

    def record_merge(self, ctx: Any, event: Event, /) -> None:
        """The one event of several calls."""

    async def summary(self, about: Any, trigger: Any, work: Any, /) -> Any:
        """The summary of old events."""


_cache: list[Instruments | None] = []


def instruments() -> Instruments | None:
    """What makes spans and metrics, once a provider for either is set up; None until then.

    A provider is set up by code that has imported OpenTelemetry, so nothing is imported to find
    that there is none.
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
    except (ImportError, AttributeError, TypeError) as error:  # an OpenTelemetry that is too old
        logger.warning(
            "Runs go without spans and metrics: OpenTelemetry cannot be used (%s). Update it with"
            " `pip install --upgrade opentelemetry-sdk`.",
            error,
        )
    _cache.append(result)
    return result


def _is_stand_in(provider: object) -> bool:
    """Whether nobody has set one up; the class of metrics has no public name."""
    return "Proxy" in type(provider).__name__
