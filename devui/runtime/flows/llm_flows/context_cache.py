"""What a model needs to keep a provider's cache of its requests (adk-runtime 9.6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from devui.runtime.copying import altered
from devui.runtime.events.growing_events import GrowingEvents
from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of
from devui.runtime.sessions.latest_sessions import LatestSessions

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.models.cache_metadata import CacheMetadata
    from devui.runtime.models.llm_request import LlmRequest


def _is_wanted(ctx: InvocationContext) -> bool:
    return ctx.context_cache_config is not None


class _Answers:
    """The latest events of an agent that tell of its cache, and of the size of its requests."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._looked_at = GrowingEvents()
        self.cached: Event | None = None
        self.sized: Event | None = None

    def __len__(self) -> int:
        return len(self._looked_at)

    def among(self, events: Sequence[Event]) -> Self:
        """These answers, after a look at the events that are new."""
        if not self._looked_at.goes_on(events):
            self._looked_at.go_back()
            self.cached = self.sized = None
        for event in self._looked_at.new(events):
            if event.author != self._agent:
                continue
            if event.cache_metadata is not None:
                self.cached = event
            if _size(event) is not None:
                self.sized = event
        self._looked_at.look(events)
        return self


class ContextCache:
    """Tells models of their caches, and keeps in mind which answers told of them."""

    def __init__(self) -> None:
        self._kept = LatestSessions()

    async def prepare(self, ctx: InvocationContext, llm_request: LlmRequest) -> None:
        """Put the app's wishes into the request, and what the agent's answers have told."""
        name = agent_of(ctx).name
        told = self._kept.of(ctx.session, name, _Answers, name).among(ctx.session.events)
        cached, sized = told.cached, told.sized
        llm_request.cache_config = ctx.context_cache_config
        llm_request.cache_metadata = _cache(cached, ctx.invocation_id) if cached else None
        llm_request.cacheable_contents_token_count = _size(sized) if sized else None


def _cache(event: Event, invocation_id: str) -> CacheMetadata | None:
    """The cache that the event tells of, with this invocation among those that have used it."""
    cache = event.cache_metadata
    if cache is None or cache.cache_name is None or event.invocation_id == invocation_id:
        return cache
    return altered(cache, invocations_used=(cache.invocations_used or 0) + 1)


def _size(event: Event) -> int | None:
    """Tokens of the request that the event answers, as its provider counted them."""
    return event.usage_metadata.prompt_token_count if event.usage_metadata else None


def context_cache() -> RequestProcessor:
    """A processor for the caches of one flow."""
    return RequestProcessor("context_cache", prepare=ContextCache().prepare, wanted=_is_wanted)
