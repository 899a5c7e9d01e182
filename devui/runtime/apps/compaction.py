"""When a session's old events are summed up, and which (adk-runtime 3.8)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from google.genai import types

from devui.runtime.apps.llm_event_summarizer import LlmEventSummarizer
from devui.runtime.apps.outline import Outline
from devui.runtime.apps.self_contained import retained_from, self_contained_prefix
from devui.runtime.errors.stale_session_error import StaleSessionError
from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions, EventCompaction
from devui.runtime.mistakes import note_on_await
from devui.runtime.sessions.latest_sessions import LatestSessions

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
    outline = _outline(ctx, ctx.isolation_scope)
    if _prompt_tokens(outline, agent) < config.token_threshold:
        return False
    chosen = _all_but_newest(outline, config.event_retention_size)
    if not chosen or not _is_worth_it(outline, chosen):
        return False
    return await _summarised(ctx, config, chosen, llm)


async def compact_by_invocations(ctx: InvocationContext, llm: BaseLlm | None) -> bool:
    """Sum up the latest invocations once there are enough new ones; whether there is a summary."""
    config = ctx.events_compaction_config
    if config is None or config.compaction_interval is None or config.overlap_size is None:
        return False
    outline = _outline(ctx, None)
    new = outline.new_invocations(config.compaction_interval, config.overlap_size)
    chosen = self_contained_prefix(new, outline.events) if new else []
    if not chosen or not _is_worth_it(outline, chosen):
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
    except Exception as error:
        note_on_await(error, summarizer.maybe_summarize_events)
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


def _outline(ctx: InvocationContext, scope: str | None) -> Outline:
    latest = ctx.outlines or LatestSessions()
    return latest.of(ctx.session, scope, Outline, scope).among(ctx.session.events)


# By tokens


def _prompt_tokens(outline: Outline, agent: str | None) -> int:
    """The size of the latest prompt since the last summary, measured or else estimated."""
    told = outline.prompt_tokens(agent)
    return outline.size() // _CHARACTERS_PER_TOKEN if told is None else told


def _all_but_newest(outline: Outline, retained: int) -> list[Event]:
    """The events since the last summary but the newest, after that summary."""
    events, latest = outline.events, outline.compacted().latest
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


def _is_worth_it(outline: Outline, chosen: Sequence[Event]) -> bool:
    """Whether a summary as long as the last one would make requests shorter."""
    compacted = outline.compacted()
    latest = compacted.latest
    last = latest.actions.compaction if latest else None
    empty = EventCompaction(
        start_timestamp=min(event.timestamp for event in chosen),
        end_timestamp=max(event.timestamp for event in chosen),
        compacted_content=types.Content(role="model", parts=[]),
    )
    weightless = Event(author="user", actions=EventActions(compaction=empty))
    saved = _weight(compacted.shown()) - _weight(compacted.shown_with(weightless))
    return saved > (_heaviness(last.compacted_content) if last else 0)


def _weight(events: Sequence[Event]) -> int:
    return sum(_heaviness(event.content) for event in events if event.content)


def _heaviness(content: types.Content) -> int:
    """Characters of a content as JSON: what a request carries of it, files and names included."""
    return len(content.model_dump_json(exclude_none=True, fallback=str))
