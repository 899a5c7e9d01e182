"""Summaries that replace the events they cover (adk-runtime 3.8)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass

from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventCompaction


@dataclass(frozen=True, slots=True)
class _Range:
    """A summary, with the time range of the earlier events that it covers."""

    index: int
    """The index of the event that holds the summary."""
    compaction: EventCompaction

    @property
    def start(self) -> float:
        return self.compaction.start_timestamp

    @property
    def end(self) -> float:
        return self.compaction.end_timestamp

    def contains(self, other: _Range) -> bool:
        return self.start <= other.start and self.end >= other.end


@dataclass(frozen=True, slots=True)
class _Item:
    """An event that is shown, or a summary in the form of an event."""

    place: int
    """The index of the event, or of the last one that the summary covers."""
    index: int
    """The index of the event, or of the one that holds the summary."""
    event: Event
    is_summary: bool = False

    def order(self) -> tuple[int, int]:
        return self.place, self.index


def is_compacted(events: Sequence[Event]) -> bool:
    """Return whether any of the events holds a summary."""
    return any(event.actions.compaction is not None for event in events)


def compacted(events: Sequence[Event], agent: str = "model") -> list[Event]:
    """Return the events with summaries in place of those they cover.

    A summary takes the place of the last event that it covers, with `agent` as its author. Calls
    whose responses are not covered are restored, with the responses to their siblings.
    """
    return CompactedEvents(events, agent).events()


class CompactedEvents:
    """Events with summaries in place of those they cover; more can be appended."""

    def __init__(self, events: Sequence[Event], agent: str = "model") -> None:
        self._events = list(events)
        self._agent = agent
        self._summaries = _ranges(events)
        self._items = self._all_shown()

    def events(self) -> list[Event]:
        """Return the events, in a list that the caller may change (see `compacted`)."""
        return list(_with_lost_calls([each.event for each in self._items], self._events))

    @property
    def latest(self) -> Event | None:
        """The newest event with a summary that no other summary contains."""
        return self._events[self._summaries[-1].index] if self._summaries else None

    def shown_with(self, summary: Event) -> list[Event]:
        """Return the events as shown after one more summary, without appending it."""
        other = copy(self)
        other._events = [*self._events]
        other.append(summary)
        return other.events()

    def append(self, event: Event) -> None:
        """Add an event at the end; a summary may replace others."""
        index = len(self._events)
        self._events.append(event)
        if event.actions.compaction is None:
            self._items.append(_Item(index, index, event))
        else:
            self._sum_up(_Range(index, event.actions.compaction))

    def _all_shown(self) -> list[_Item]:
        by_time = sorted(self._summaries, key=lambda each: each.start)
        starts, ends = [each.start for each in by_time], [each.end for each in by_time]
        place = {each.index: each.index for each in by_time}
        items = []
        for index, event in enumerate(self._events):
            time = event.timestamp
            # No summary contains another, so those that begin later also end later.
            around = by_time[bisect_left(ends, time) : bisect_right(starts, time)]
            covering = [each.index for each in around if index < each.index]
            place.update(dict.fromkeys(covering, index))
            if not covering and event.actions.compaction is None:
                items.append(_Item(index, index, event))
        summaries = [self._summary_item(each, place[each.index]) for each in self._summaries]
        return sorted([*items, *summaries], key=_Item.order)

    def _sum_up(self, new: _Range) -> None:
        if any(each.contains(new) and not new.contains(each) for each in self._summaries):
            return
        obsolete = {each.index for each in self._summaries if new.contains(each)}
        self._summaries = [each for each in self._summaries if each.index not in obsolete] + [new]
        times = (self._events[index].timestamp for index in range(new.index - 1, -1, -1))
        covered = next((n for n, time in enumerate(times, 1) if new.start <= time <= new.end), 0)
        self._items = [
            each
            for each in self._items
            if each.index not in obsolete
            and (each.is_summary or not new.start <= each.event.timestamp <= new.end)
        ]
        insort(self._items, self._summary_item(new, new.index - covered), key=_Item.order)

    def _summary_item(self, summary: _Range, place: int) -> _Item:
        event = _summary_event(self._events[summary.index], self._agent)
        return _Item(place, summary.index, event, is_summary=True)


def _ranges(events: Sequence[Event]) -> list[_Range]:
    """Return the summaries that no other one contains; of equal ones, the latest."""
    ranges = [
        _Range(index, event.actions.compaction)
        for index, event in enumerate(events)
        if event.actions.compaction is not None
    ]
    maximal: list[_Range] = []
    # Sorted like this, a summary is contained in an earlier one unless it ends after all of them.
    for each in sorted(ranges, key=lambda each: (each.start, -each.end, -each.index)):
        if not maximal or each.end > maximal[-1].end:
            maximal.append(each)
    return sorted(maximal, key=lambda each: each.index)


def _summary_event(event: Event, agent: str) -> Event:
    compaction = event.actions.compaction
    assert compaction is not None  # noqa: S101  only events with a summary come here
    return Event(
        timestamp=compaction.end_timestamp,
        author=agent,
        content=compaction.compacted_content,
        branch=event.branch,
        isolation_scope=event.isolation_scope,
        invocation_id=event.invocation_id,
    )


def _with_lost_calls(remaining: Sequence[Event], events: Sequence[Event]) -> Iterator[Event]:
    """Yield the remaining events, and before a response whose call was covered, that call."""
    there = {call.id for event in remaining for call in event.get_function_calls()}
    answered_ids = {
        response.id for event in remaining for response in event.get_function_responses()
    }
    for event in remaining:
        for response in event.get_function_responses():
            source = None if response.id in there else _calling(response.id, events)
            if source is None:
                continue
            siblings = {call.id for call in source.get_function_calls()}
            there |= siblings
            yield source
            yield from (e for e in events if _response_ids(e) & (siblings - answered_ids))
        yield event


def _response_ids(event: Event) -> set[str | None]:
    return {response.id for response in event.get_function_responses()}


def _calling(call_id: str | None, events: Sequence[Event]) -> Event | None:
    for event in reversed(events):
        if any(call.id == call_id for call in event.get_function_calls()):
            return event
    return None
