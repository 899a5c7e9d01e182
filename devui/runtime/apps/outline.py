"""What a session has come to, as far as its summaries are concerned (adk-runtime 3.8)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from devui.runtime.events.compactions import CompactedEvents
from devui.runtime.events.growing_events import GrowingEvents
from devui.runtime.events.rewinds import live_events

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.events.event import Event


class Outline:
    """The events of one scope that count, and their sums; each event is looked at once."""

    def __init__(self, scope: str | None) -> None:
        self._scope = scope
        self._looked_at = GrowingEvents()
        self._begin()

    def _begin(self) -> None:
        self._looked_at.go_back()
        self.events: list[Event] = []
        """Oldest first, without what was rewound; not to be changed."""
        self._spoken: list[Event] = []
        """Those that are no summaries."""
        self._first: dict[str, int] = {}
        """Where in those each invocation begins."""
        self._latest: dict[str, float] = {}
        """When each invocation did something last."""
        self._summed_up_to = 0.0
        """The end of the latest summary."""
        self._new: set[str] = set()
        """The invocations that have done something after that."""
        self._prompts: dict[str | None, int] = {}
        """The latest size of a prompt by agents, of any by None, since the latest summary."""
        self._size = 0
        self._sized = 0
        """How many of the events are part of that size."""
        self._compacted: CompactedEvents | None = None
        """Made when it is asked for."""

    def __len__(self) -> int:
        return len(self._looked_at)

    def among(self, events: Sequence[Event]) -> Self:
        """This outline, after a look at those events of the session that are new."""
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
        self._first.setdefault(invocation, len(self._spoken))
        self._spoken.append(event)
        self._latest[invocation] = max(time, self._latest.get(invocation, 0.0))
        if time > self._summed_up_to:
            self._new.add(invocation)
        usage = event.usage_metadata
        if usage and usage.prompt_token_count is not None:
            self._prompts[event.author] = self._prompts[None] = usage.prompt_token_count

    def prompt_tokens(self, agent: str | None) -> int | None:
        """The size of the agent's latest prompt since the last summary, of any agent's for None;
        None if nobody has told it.
        """
        return self._prompts.get(agent)

    def size(self) -> int:
        """Characters that a model reads of the events, with summaries in their places."""
        if self.is_summed_up:
            return sum(map(_size, self.compacted().shown()))
        self._size += sum(map(_size, self.events[self._sized :]))
        self._sized = len(self.events)
        return self._size

    @property
    def is_summed_up(self) -> bool:
        """Whether there is a summary."""
        return len(self._spoken) < len(self.events)

    def compacted(self) -> CompactedEvents:
        """The events with summaries in place of those they cover; not to be changed."""
        if self._compacted is None:
            self._compacted = CompactedEvents(self.events)
        return self._compacted

    def new_invocations(self, interval: int, overlap: int) -> list[Event]:
        """What new invocations said, and `overlap` ones before them, once there are enough."""
        if len(self._new) < interval:
            return []
        invocations = list(self._latest)
        begin = next(index for index, each in enumerate(invocations) if each in self._new)
        return self._spoken[self._first[invocations[max(0, begin - overlap)]] :]


def _size(event: Event) -> int:
    """Characters of an event that a model reads."""
    size, content = 0, event.content
    for part in (content.parts if content else None) or []:
        size += len(part.text or "") + _called(part)
        if response := part.function_response:
            size += len(response.name or "") + _length(response.response)
    return size


def _called(part: types.Part) -> int:
    call = part.function_call
    return len(call.name or "") + _length(call.args) if call else 0


def _length(payload: object) -> int:
    return len(json.dumps(payload, default=str)) if payload else 0
