"""When a session's old events are summed up, and which (adk-runtime 3.8)."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from google.genai import types

from devui.runtime.apps.llm_event_summarizer import LlmEventSummarizer
from devui.runtime.apps.self_contained import retained_from, self_contained_prefix
from devui.runtime.errors.stale_session_error import StaleSessionError
from devui.runtime.events.compactions import compacted, latest_compaction
from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions, EventCompaction
from devui.runtime.events.rewinds import live_events

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.apps.configs import EventsCompactionConfig
    from devui.runtime.models.base_llm import BaseLlm

logger = logging.getLogger(__name__)

_CHARACTERS_PER_TOKEN = 4


async def compact_by_tokens(
    ctx: InvocationContext, llm: BaseLlm | None, *, agent: str | None = None
) -> bool:
    """Sum up all but the newest events once prompts have grown too big.

    Args:
        ctx: The invocation; its history gets the summary.
        llm: Sums up, unless the settings name a summarizer.
        agent: Whose prompts are measured; None takes the latest of any.

    Returns:
        Whether there is a new summary.
    """
    config = ctx.events_compaction_config
    if config is None or config.token_threshold is None or config.event_retention_size is None:
        return False
    events = _in_scope(ctx, ctx.isolation_scope)
    if _prompt_tokens(events, agent) < config.token_threshold:
        return False
    chosen = _all_but_newest(events, config.event_retention_size)
    if not chosen or not _is_worth_it(events, chosen):
        return False
    return await _summarised(ctx, config, chosen, llm)


async def compact_by_invocations(ctx: InvocationContext, llm: BaseLlm | None) -> bool:
    """Sum up the latest invocations once there are enough new ones; whether there is a summary."""
    config = ctx.events_compaction_config
    if config is None or config.compaction_interval is None or config.overlap_size is None:
        return False
    events = _in_scope(ctx, None)
    chosen = _window(events, config.compaction_interval, config.overlap_size)
    if not chosen or not _is_worth_it(events, chosen):
        return False
    return await _summarised(ctx, config, chosen, llm)


async def _summarised(
    ctx: InvocationContext,
    config: EventsCompactionConfig,
    chosen: list[Event],
    llm: BaseLlm | None,
) -> bool:
    """Append a summary of the chosen events; the run goes on whatever the summarizer raises."""
    summarizer = config.summarizer or (LlmEventSummarizer(llm) if llm else None)
    if summarizer is None:
        logger.warning(
            "Old events are not summed up: the root agent has no model. Give"
            " EventsCompactionConfig a summarizer."
        )
        return False
    try:
        summary: Event | None = await ctx.plugin_manager.around_summary(
            chosen, partial(summarizer.maybe_summarize_events, events=chosen)
        )
    except Exception:
        logger.warning("Old events could not be summed up; the history stays.", exc_info=True)
        return False
    if summary is None:
        return False
    summary.isolation_scope = chosen[-1].isolation_scope
    try:
        summary = ctx.in_order(summary)
        await ctx.session_service.append_event(session=ctx.session, event=summary)
    except StaleSessionError:
        logger.warning("The session has changed meanwhile; its summary is dropped.")
        return False
    return True


def _in_scope(ctx: InvocationContext, scope: str | None) -> list[Event]:
    return [event for event in live_events(ctx.session.events) if event.isolation_scope == scope]


# By tokens


def _prompt_tokens(events: Sequence[Event], agent: str | None) -> int:
    """The size of the latest prompt since the last summary, measured or else estimated."""
    for event in reversed(events):
        if event.actions.compaction is not None:
            break
        usage = event.usage_metadata
        if usage and usage.prompt_token_count is not None and agent in (None, event.author):
            return usage.prompt_token_count
    return _size(compacted(events)) // _CHARACTERS_PER_TOKEN


def _all_but_newest(events: Sequence[Event], retained: int) -> list[Event]:
    """The events since the last summary but the newest, after that summary."""
    latest = latest_compaction(events)
    compaction = latest.actions.compaction if latest else None
    end = compaction.end_timestamp if compaction else 0.0
    new = [e for e in events if e.actions.compaction is None and e.timestamp > end]
    chosen = self_contained_prefix(new[: retained_from(new, retained)], events)
    if not chosen or latest is None or compaction is None:
        return chosen
    seed = Event(
        timestamp=compaction.start_timestamp,
        author="model",
        content=compaction.compacted_content,
        branch=latest.branch,
        isolation_scope=latest.isolation_scope,
        invocation_id=latest.invocation_id,
    )
    return [seed, *chosen]


# By invocations


def _window(events: Sequence[Event], interval: int, overlap: int) -> list[Event]:
    """The new invocations and `overlap` ones before them; none if there are too few new ones."""
    spoken = [event for event in events if event.actions.compaction is None]
    end = next(
        (e.actions.compaction.end_timestamp for e in reversed(events) if e.actions.compaction), 0.0
    )
    latest: dict[str, float] = {}
    for event in spoken:
        latest[event.invocation_id] = max(event.timestamp, latest.get(event.invocation_id, 0.0))
    invocations = list(latest)
    new = [each for each in invocations if latest[each] > end]
    if len(new) < interval:
        return []
    first = max(0, invocations.index(new[0]) - overlap)
    start = next(i for i, e in enumerate(spoken) if e.invocation_id == invocations[first])
    return self_contained_prefix(spoken[start:], events)


def _is_worth_it(events: Sequence[Event], chosen: Sequence[Event]) -> bool:
    """Whether a summary as long as the last one would make requests shorter."""
    latest = latest_compaction(events)
    last = latest.actions.compaction if latest else None
    empty = EventCompaction(
        start_timestamp=min(event.timestamp for event in chosen),
        end_timestamp=max(event.timestamp for event in chosen),
        compacted_content=types.Content(role="model", parts=[]),
    )
    weightless = Event(author="user", actions=EventActions(compaction=empty))
    saved = _weight(compacted(events)) - _weight(compacted([*events, weightless]))
    return saved > (_heaviness(last.compacted_content) if last else 0)


def _weight(events: Sequence[Event]) -> int:
    return sum(_heaviness(event.content) for event in events if event.content)


def _heaviness(content: types.Content) -> int:
    """Characters of a content as JSON: what a request carries of it, files and names included."""
    return len(content.model_dump_json(exclude_none=True, fallback=str))


def _size(events: Sequence[Event]) -> int:
    return sum(_content_size(event.content) for event in events)


def _content_size(content: types.Content | None) -> int:
    """Characters of a content that a model reads."""
    size = 0
    for part in (content.parts if content else None) or []:
        size += len(part.text or "")
        if call := part.function_call:
            size += len(call.name or "") + _length(call.args)
        if response := part.function_response:
            size += len(response.name or "") + _length(response.response)
    return size


def _length(payload: object) -> int:
    return len(json.dumps(payload, default=str)) if payload else 0
