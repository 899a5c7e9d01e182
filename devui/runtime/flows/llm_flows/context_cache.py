"""What a model needs to keep a provider's cache of its requests (adk-runtime 9.6)."""

from __future__ import annotations

from collections.abc import Iterable
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
    events = ctx.session.events
    cache = _latest_cache((e for e in reversed(events) if e.author == name), ctx.invocation_id)
    llm_request.cache_metadata = cache
    llm_request.cacheable_contents_token_count = _latest_size(
        e for e in reversed(events) if e.author == name
    )


def _latest_cache(newest_first: Iterable[Event], invocation_id: str) -> CacheMetadata | None:
    """The agent's cache, with this invocation among those that have used it."""
    for event in newest_first:
        cache = event.cache_metadata
        if cache is None:
            continue
        if cache.cache_name is None or event.invocation_id == invocation_id:
            return cache
        return altered(cache, invocations_used=(cache.invocations_used or 0) + 1)
    return None


def _latest_size(newest_first: Iterable[Event]) -> int | None:
    """Tokens of the agent's latest request, as its provider counted them."""
    for event in newest_first:
        if event.usage_metadata and event.usage_metadata.prompt_token_count is not None:
            return event.usage_metadata.prompt_token_count
    return None


context_cache = RequestProcessor("context_cache", prepare=_prepare, wanted=_is_wanted)
