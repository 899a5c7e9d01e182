"""What each request begins with: settings, identity, instructions, summaries (adk-runtime 7.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from google.genai import types

from devui.runtime.agents.context import ReadonlyContext
from devui.runtime.agents.llm_agent_turn import gives_one_answer
from devui.runtime.apps.compaction import compact_by_tokens
from devui.runtime.copying import copy_with
from devui.runtime.events.growing_events import GrowingEvents
from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of
from devui.runtime.models.llm_request import own_config, own_http_options
from devui.runtime.models.quoting import instruction_content
from devui.runtime.sessions.latest_sessions import LatestSessions
from devui.runtime.utils.instructions_utils import inject_session_state

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.run_config import RunConfig
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.models.llm_response import CacheMetadata


# The basics of a request: model name and generation settings.


_OF_RUNS = frozenset({"timeout", "retry_options", "extra_body"})
"""The HTTP options of a run that override those of its agents (adk-runtime 7.2)."""


async def _prepare_basics(ctx: InvocationContext, llm_request: LlmRequest) -> None:
    agent = agent_of(ctx)
    llm_request.model = agent.canonical_model.model
    if agent.generate_content_config is not None:
        # The request gets its own copy of the settings, since callbacks and tools change them.
        llm_request.config = own_config(agent.generate_content_config)
    if ctx.run_config is not None:
        _apply(ctx.run_config, llm_request.config)


def _apply(run_config: RunConfig, config: types.GenerateContentConfig) -> None:
    """Override the settings of the agent with those of the run."""
    if run_config.labels:
        config.labels = {**(config.labels or {}), **run_config.labels}
    if run_config.http_options is not None:
        config.http_options = _merge_http_options(config.http_options, run_config.http_options)


def _merge_http_options(
    agents: types.HttpOptionsOrDict | None, runs: types.HttpOptions
) -> types.HttpOptions:
    """Return the agent's HTTP options, overridden by those of the run; headers are merged.

    The address of the service and the client stay as the agent has them.
    """
    if agents is None:
        return own_http_options(runs)
    base = types.HttpOptions.model_validate(agents)
    options = own_http_options(runs)
    update = {name: value for name, value in options if name in _OF_RUNS and value is not None}
    update["headers"] = {**(base.headers or {}), **(runs.headers or {})} or None
    return base.model_copy(update=update)


basic = RequestProcessor("basic", prepare=_prepare_basics)


# Tells the model which agent it is, so that agents can refer to each other by name.


async def _introduce(ctx: InvocationContext, llm_request: LlmRequest) -> None:
    agent = agent_of(ctx)
    if gives_one_answer(ctx):
        return  # nobody refers to it by name
    text = f'You are an agent; the name that other agents know you by is "{agent.name}".'
    if agent.description:
        text += f' You are described to them as: "{agent.description}".'
    llm_request.append_instructions([text])


identity = RequestProcessor("identity", prepare=_introduce)


# The instructions of a request (adk-runtime 6.3, 7.2).


async def _instruct(ctx: InvocationContext, llm_request: LlmRequest) -> None:
    agent = agent_of(ctx)
    context = ReadonlyContext(ctx)
    root = agent.root_llm_agent
    if root is not None and root.global_instruction:
        text, as_it_is = await root.canonical_global_instruction(context)
        if not as_it_is and "{" in text:
            text = await inject_session_state(text, context)
        llm_request.append_instructions([text] if text else [])
    if agent.static_instruction is not None:
        llm_request.append_instructions(_static_content(agent.static_instruction))
    text, as_it_is = await agent.canonical_instruction(context)
    if not as_it_is and "{" in text:
        text = await inject_session_state(text, context)
    if not text:
        return
    if agent.static_instruction is None:
        llm_request.append_instructions([text])
    else:
        # The system instruction stays the same from turn to turn, so that providers can cache
        # it; what changes goes into the contents, before the user's latest message.
        llm_request.contents.append(instruction_content(text))


def _static_content(instruction: types.ContentUnion) -> types.Content:
    if isinstance(instruction, types.Content):
        return instruction
    return types.Content(role="user", parts=types.UserContent(instruction).parts)


instructions = RequestProcessor("instructions", prepare=_instruct)


# Summarizes old events before a request would become too big (adk-runtime 3.8, 7.2).


def _may_compact(ctx: InvocationContext) -> bool:
    return ctx.events_compaction_config is not None


async def _compact(ctx: InvocationContext, llm_request: LlmRequest) -> None:
    agent = agent_of(ctx)
    if await compact_by_tokens(ctx, agent.canonical_model, agent=agent.name):
        ctx.token_compaction_checked = True


compaction = RequestProcessor("compaction", prepare=_compact, applies=_may_compact)


# Tells a model what it needs to use a provider's cache of its requests (adk-runtime 9.6).


def _may_cache(ctx: InvocationContext) -> bool:
    return ctx.context_cache_config is not None


class _Answers:
    """The latest events of an agent that report its cache and the size of its requests."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._looked_at = GrowingEvents()
        self.cached: Event | None = None
        self.sized: Event | None = None

    def __len__(self) -> int:
        return len(self._looked_at)

    def among(self, events: Sequence[Event]) -> Self:
        """Update these answers with the new events, and return them."""
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
    """Tells models about their caches, and remembers which answers reported them."""

    def __init__(self) -> None:
        self._sessions = LatestSessions()

    async def prepare(self, ctx: InvocationContext, llm_request: LlmRequest) -> None:
        """Put the app's cache settings and what the agent's answers reported into the request."""
        name = agent_of(ctx).name
        answers = self._sessions.of(ctx.session, name, _Answers, name).among(ctx.session.events)
        cached, sized = answers.cached, answers.sized
        llm_request.cache_config = ctx.context_cache_config
        llm_request.cache_metadata = _cache(cached, ctx.invocation_id) if cached else None
        llm_request.cacheable_contents_token_count = _size(sized) if sized else None


def _cache(event: Event, invocation_id: str) -> CacheMetadata | None:
    """Return the cache that the event reports, with this invocation counted as a use."""
    cache = event.cache_metadata
    if cache is None or cache.cache_name is None or event.invocation_id == invocation_id:
        return cache
    return copy_with(cache, invocations_used=(cache.invocations_used or 0) + 1)


def _size(event: Event) -> int | None:
    """Return the tokens of the request that the event answers, as its provider counted them."""
    return event.usage_metadata.prompt_token_count if event.usage_metadata else None


def context_cache() -> RequestProcessor:
    """Create the cache processor of one flow."""
    return RequestProcessor("context_cache", prepare=ContextCache().prepare, applies=_may_cache)
