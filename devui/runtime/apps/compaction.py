"""Decides when a session's old events are summed up, and which (adk-runtime 3.8)."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from google.genai import types

from devui.runtime.agents.invocation_events import (
    REQUEST_CONFIRMATION,
    REQUEST_CREDENTIAL,
    REQUEST_INPUT,
)
from devui.runtime.apps.llm_event_summarizer import LlmEventSummarizer
from devui.runtime.errors import StaleSessionError
from devui.runtime.events.compactions import CompactedEvents
from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions, EventCompaction
from devui.runtime.events.growing_events import GrowingEvents
from devui.runtime.events.rewinds import live_events
from devui.runtime.mistakes import note_on_await
from devui.runtime.sessions.latest_sessions import LatestSessions
from devui.runtime.telemetry.switch import instruments

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.apps.configs import EventsCompactionConfig
    from devui.runtime.models.base_llm import BaseLlm


# How much of a history can be summed up without separating calls from their answers (adk-runtime
# 3.8).


_QUESTIONS = frozenset({REQUEST_CONFIRMATION, REQUEST_CREDENTIAL, REQUEST_INPUT})
"""The runtime's own calls that ask the user something."""


def self_contained_prefix(events: Sequence[Event], history: Sequence[Event]) -> list[Event]:
    """Return the longest prefix of `events` after which no call waits for its answer.

    A call of an earlier invocation that nothing in the whole `history` answers, and that isn't
    long-running, is lost and doesn't count; nor does a question that the user has passed over.
    Events before the waiting invocation are summed up by themselves.
    """
    strict = _balanced(events, frozenset())
    if strict == len(events):
        return list(events)
    if strict and events[strict - 1].invocation_id != events[strict].invocation_id:
        return list(events[:strict])
    return list(events[: max(strict, _balanced(events, _lost_ids(history)))])


def retained_from(events: Sequence[Event], retained: int) -> int:
    """Return where the newest `retained` events begin, moved back to include their calls."""
    if retained == 0:
        return len(events)
    split = len(events) - retained
    unmatched: set[str | None] = set()
    for index in range(len(events) - 1, -1, -1):
        unmatched |= _responses(events[index])
        unmatched -= _calls(events[index])
        if index <= split and not unmatched:
            return index
    return 0


def _balanced(events: Sequence[Event], lost_ids: Collection[str | None]) -> int:
    """Return the length of the longest prefix after which no call is open."""
    waiting: set[str | None] = set()
    length = 0
    for index, event in enumerate(events):
        waiting -= _responses(event)
        waiting |= (_calls(event) | _requests(event)) - set(lost_ids)
        if not waiting:
            length = index + 1
    return length


def _lost_ids(history: Sequence[Event]) -> set[str | None]:
    ids = [event.invocation_id for event in history if event.actions.compaction is None]
    newest = next(filter(None, reversed(ids)), None)
    calls: set[str | None] = set()
    safe: set[str | None] = set()
    for event in history:
        waiting: set[str | None] = set(event.long_running_tool_ids or ())
        if event.invocation_id != newest:
            calls |= _calls(event)
            waiting -= _questions(event)
        safe |= waiting | (_responses(event) - _requests(event))
    return calls - safe


def _questions(event: Event) -> set[str | None]:
    return {call.id for call in event.get_function_calls() if call.name in _QUESTIONS}


def _calls(event: Event) -> set[str | None]:
    return {call.id for call in event.get_function_calls()}


def _responses(event: Event) -> set[str | None]:
    return {response.id for response in event.get_function_responses()}


def _requests(event: Event) -> set[str | None]:
    """Return the calls that the event asks a human about."""
    actions = event.actions
    return {*actions.requested_tool_confirmations, *actions.requested_auth_configs}


# What the summaries of a session depend on (adk-runtime 3.8).


class Outline:
    """The live events of one scope, and totals over them; each event is read once."""

    def __init__(self, scope: str | None) -> None:
        self._scope = scope
        self._looked_at = GrowingEvents()
        self._begin()

    def _begin(self) -> None:
        self._looked_at.go_back()
        self.events: list[Event] = []
        """Oldest first, without rewound events; callers must not change it."""
        self._messages: list[Event] = []
        """The events that aren't summaries."""
        self._first: dict[str, int] = {}
        """The index in `_messages` at which each invocation begins."""
        self._latest: dict[str, float] = {}
        """The time of each invocation's latest event."""
        self._summed_up_to = 0.0
        """The end of the latest summary."""
        self._new: set[str] = set()
        """The invocations with events after that."""
        self._prompts: dict[str | None, int] = {}
        """The latest prompt size since the latest summary, by agent; under None, of any agent."""
        self._size = 0
        self._sized = 0
        """How many of the events `_size` includes."""
        self._compacted: CompactedEvents | None = None
        """Created on first use."""

    def __len__(self) -> int:
        return len(self._looked_at)

    def among(self, events: Sequence[Event]) -> Self:
        """Return this outline, brought up to date with the session's events."""
        new = self._looked_at.new(events)
        if not self._looked_at.goes_on(events) or any(
            event.actions.rewind_before_invocation_id is not None for event in new
        ):
            self._begin()
            new = live_events(events)
        for event in new:
            if event.isolation_scope == self._scope:
                self._take(event)
        self._looked_at.look(events)
        return self

    def _take(self, event: Event) -> None:
        self.events.append(event)
        if self._compacted is not None:
            self._compacted.append(event)
        if summary := event.actions.compaction:
            self._prompts.clear()
            self._summed_up_to = end = summary.end_timestamp
            self._new = {each for each, time in self._latest.items() if time > end}
            return
        invocation, time = event.invocation_id, event.timestamp
        self._first.setdefault(invocation, len(self._messages))
        self._messages.append(event)
        self._latest[invocation] = max(time, self._latest.get(invocation, 0.0))
        if time > self._summed_up_to:
            self._new.add(invocation)
        usage = event.usage_metadata
        if usage and usage.prompt_token_count is not None:
            self._prompts[event.author] = self._prompts[None] = usage.prompt_token_count

    def prompt_tokens(self, agent: str | None) -> int | None:
        """Return the size of the agent's latest prompt since the last summary, in tokens.

        `agent=None` means that of any agent. Return None if no event reports one.
        """
        return self._prompts.get(agent)

    def size(self) -> int:
        """Return how many characters of the events a model reads, summaries included."""
        if self.is_summed_up:
            return sum(map(_size, self.compacted().events()))
        self._size += sum(map(_size, self.events[self._sized :]))
        self._sized = len(self.events)
        return self._size

    @property
    def is_summed_up(self) -> bool:
        """Whether there is a summary."""
        return len(self._messages) < len(self.events)

    def compacted(self) -> CompactedEvents:
        """Return the events, with summaries in place of those they cover; read-only."""
        if self._compacted is None:
            self._compacted = CompactedEvents(self.events)
        return self._compacted

    def new_invocations(self, interval: int, overlap: int) -> list[Event]:
        """Return the messages of new invocations, and of `overlap` ones before them.

        Return none if there are fewer than `interval` new invocations.
        """
        if len(self._new) < interval:
            return []
        invocations = list(self._latest)
        begin = next(index for index, each in enumerate(invocations) if each in self._new)
        return self._messages[self._first[invocations[max(0, begin - overlap)]] :]


def _size(event: Event) -> int:
    """Return how many characters of an event a model reads."""
    size, content = 0, event.content
    for part in (content.parts if content else None) or []:
        size += len(part.text or "") + _call_size(part)
        if response := part.function_response:
            size += len(response.name or "") + _length(response.response)
    return size


def _call_size(part: types.Part) -> int:
    call = part.function_call
    return len(call.name or "") + _length(call.args) if call else 0


def _length(payload: object) -> int:
    return len(json.dumps(payload, default=str)) if payload else 0


logger = logging.getLogger(__name__)

_CHARACTERS_PER_TOKEN = 4


async def compact_by_tokens(
    ctx: InvocationContext, llm: BaseLlm | None, *, agent: str | None = None
) -> bool:
    """Sum up all but the newest events once prompts have grown too big.

    Args:
        ctx: The invocation; its history gets the summary.
        llm: Makes the summary, unless the settings name a summarizer.
        agent: The agent whose prompts are measured; None takes the latest of any.

    Returns:
        Whether there is a new summary.
    """
    config = ctx.events_compaction_config
    if config is None or config.token_threshold is None or config.event_retention_size is None:
        return False
    outline = _outline(ctx, ctx.isolation_scope)
    if _prompt_tokens(outline, agent) < config.token_threshold:
        return False
    old_events = _all_but_newest(outline, config.event_retention_size)
    if not old_events or not _is_worth_it(outline, old_events):
        return False
    return await _summarized(ctx, config, old_events, llm, "token_threshold")


async def compact_by_invocations(ctx: InvocationContext, llm: BaseLlm | None) -> bool:
    """Sum up the latest invocations once there are enough; return whether there is a summary."""
    config = ctx.events_compaction_config
    if config is None or config.compaction_interval is None or config.overlap_size is None:
        return False
    outline = _outline(ctx, None)
    new = outline.new_invocations(config.compaction_interval, config.overlap_size)
    old_events = self_contained_prefix(new, outline.events) if new else []
    if not old_events or not _is_worth_it(outline, old_events):
        return False
    return await _summarized(ctx, config, old_events, llm, "sliding_window")


async def _summarized(
    ctx: InvocationContext,
    config: EventsCompactionConfig,
    old_events: list[Event],
    llm: BaseLlm | None,
    trigger: str,
) -> bool:
    """Append a summary of the chosen events; errors of the summarizer don't stop the run."""
    summarizer = config.summarizer or (LlmEventSummarizer(llm) if llm else None)
    if summarizer is None:
        logger.warning(
            "Old events are not summarized: the root agent has no model. Pass a summarizer to"
            " EventsCompactionConfig."
        )
        return False
    try:
        work = ctx.plugin_manager.around_summary(
            old_events, partial(summarizer.maybe_summarize_events, events=old_events)
        )
        if (spans := instruments()) is not None:
            about = _about(ctx, config, summarizer, len(old_events))
            work = spans.summary(about, trigger, work)
        summary: Event | None = await work
    except Exception as error:
        note_on_await(error, summarizer.maybe_summarize_events)
        logger.warning(
            "Old events could not be summarized; the history stays as is.", exc_info=True
        )
        return False
    if summary is None:
        return False
    summary.isolation_scope = old_events[-1].isolation_scope
    try:
        summary = ctx.in_order(summary)
        await ctx.session_service.append_event(session=ctx.session, event=summary)
    except StaleSessionError:
        logger.warning("The session changed while it was summarized; the summary is dropped.")
        return False
    return True


def _about(
    ctx: InvocationContext, config: EventsCompactionConfig, summarizer: object, events: int
) -> dict[str, Any]:
    """Return the attributes of a summary's span."""
    counts = {
        "summarizer_type": type(summarizer).__name__,
        "event_count": events,
        "token_threshold": config.token_threshold,
        "event_retention_size": config.event_retention_size,
        "compaction_interval": config.compaction_interval,
        "overlap_size": config.overlap_size,
    }
    attributes = {f"gen_ai.compaction.{name}": value for name, value in counts.items()}
    return {"gen_ai.conversation.id": ctx.session.id, **attributes}


def _outline(ctx: InvocationContext, scope: str | None) -> Outline:
    latest = ctx.outlines or LatestSessions()
    return latest.of(ctx.session, scope, Outline, scope).among(ctx.session.events)


# By tokens


def _prompt_tokens(outline: Outline, agent: str | None) -> int:
    """Return the latest prompt's size since the last summary, estimated if it isn't known."""
    count = outline.prompt_tokens(agent)
    return outline.size() // _CHARACTERS_PER_TOKEN if count is None else count


def _all_but_newest(outline: Outline, retained: int) -> list[Event]:
    """Return the last summary and the events since then, without the newest ones."""
    events, latest = outline.events, outline.compacted().latest
    compaction = latest.actions.compaction if latest else None
    end = compaction.end_timestamp if compaction else 0.0
    new = [e for e in events if e.actions.compaction is None and e.timestamp > end]
    old_events = self_contained_prefix(new[: retained_from(new, retained)], events)
    if not old_events or latest is None or compaction is None:
        return old_events
    seed = Event(
        timestamp=compaction.start_timestamp,
        author="model",
        content=compaction.compacted_content,
        branch=latest.branch,
        isolation_scope=latest.isolation_scope,
        invocation_id=latest.invocation_id,
    )
    return [seed, *old_events]


def _is_worth_it(outline: Outline, old_events: Sequence[Event]) -> bool:
    """Return whether a summary as long as the last one would make requests shorter."""
    compacted = outline.compacted()
    latest = compacted.latest
    last = latest.actions.compaction if latest else None
    empty = EventCompaction(
        start_timestamp=min(event.timestamp for event in old_events),
        end_timestamp=max(event.timestamp for event in old_events),
        compacted_content=types.Content(role="model", parts=[]),
    )
    weightless = Event(author="user", actions=EventActions(compaction=empty))
    saving = _weight(compacted.events()) - _weight(compacted.shown_with(weightless))
    return saving > (_heaviness(last.compacted_content) if last else 0)


def _weight(events: Sequence[Event]) -> int:
    return sum(_heaviness(event.content) for event in events if event.content)


def _heaviness(content: types.Content) -> int:
    """Return the length of a content as JSON, since requests also carry its files and names."""
    return len(content.model_dump_json(exclude_none=True, fallback=str))
