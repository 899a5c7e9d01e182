"""What a model needs to keep a provider's cache of its requests (adk-runtime 9.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devui.runtime.copying import altered
from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.models.cache_metadata import CacheMetadata
    from devui.runtime.models.llm_request import LlmRequest


def _is_wanted(ctx: InvocationContext) -> bool:
    return ctx.context_cache_config is not None


async def _prepare(ctx: InvocationContext, llm_request: LlmRequest) -> None:
    llm_request.cache_config = ctx.context_cache_config
    name = agent_of(ctx).name
    sized = cached = None
    for event in reversed(ctx.session.events):
        if event.author != name:
            continue
        if sized is None and _size(event) is not None:
            sized = event
        if cached is None and event.cache_metadata is not None:
            cached = event
        if sized is not None and cached is not None:
            break
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


context_cache = RequestProcessor("context_cache", prepare=_prepare, wanted=_is_wanted)
