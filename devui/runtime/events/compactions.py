"""Summaries in the place of the events they stand for (adk-runtime 3.8)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventCompaction


@dataclass(frozen=True, slots=True)
class _Range:
    """A summary, and which of the events before it it stands for."""

    index: int
    """Of the event that holds the summary."""
    compaction: EventCompaction

    @property
    def start(self) -> float:
        return self.compaction.start_timestamp

    @property
    def end(self) -> float:
        return self.compaction.end_timestamp


def is_compacted(events: Sequence[Event]) -> bool:
    """Whether there is any summary among the events."""
    return any(event.actions.compaction is not None for event in events)


def latest_compaction(events: Sequence[Event]) -> Event | None:
    """The newest event with a summary that no other one contains."""
    ranges = _ranges(events)
    return events[ranges[-1].index] if ranges else None


def compacted(events: Sequence[Event], agent: str = "model") -> list[Event]:
    """The events with summaries in place of those they cover.

    A summary stands where the last event that it covers stood, as words of `agent`. Calls whose
    responses are not covered are brought back, with the responses to their siblings.
    """
    ranges = _ranges(events)
    by_time = sorted(ranges, key=lambda each: each.start)
    starts, ends = [each.start for each in by_time], [each.end for each in by_time]
    place = {each.index: each.index for each in ranges}
    kept: dict[int, Event] = {}
    for index, event in enumerate(events):
        time = event.timestamp
        # None contains another, so those that began later also end later.
        around = by_time[bisect_left(ends, time) : bisect_right(starts, time)]
        covering = [each.index for each in around if index < each.index]
        place.update(dict.fromkeys(covering, index))
        if not covering and event.actions.compaction is None:
            kept[index] = event
    told = [(place[each.index], _told(events[each.index], agent)) for each in ranges]
    shown = sorted([*kept.items(), *told], key=lambda item: item[0])
    return list(_with_lost_calls([event for _, event in shown], events))


def _ranges(events: Sequence[Event]) -> list[_Range]:
    """The summaries that say something that no other one says; of equal ones the latest."""
    ranges = [
        _Range(index, event.actions.compaction)
        for index, event in enumerate(events)
        if event.actions.compaction is not None
    ]
    shown: list[_Range] = []
    # What comes before in this order does not begin later: then it contains what ends no later.
    for each in sorted(ranges, key=lambda each: (each.start, -each.end, -each.index)):
        if not shown or each.end > shown[-1].end:
            shown.append(each)
    return sorted(shown, key=lambda each: each.index)


def _told(event: Event, agent: str) -> Event:
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


def _with_lost_calls(kept: Sequence[Event], events: Sequence[Event]) -> Iterator[Event]:
    """The kept events, and before a response whose call was covered, that call."""
    there = {call.id for event in kept for call in event.get_function_calls()}
    answered = {response.id for event in kept for response in event.get_function_responses()}
    for event in kept:
        for response in event.get_function_responses():
            source = None if response.id in there else _calling(response.id, events)
            if source is None:
                continue
            siblings = {call.id for call in source.get_function_calls()}
            there |= siblings
            yield source
            yield from (e for e in events if _response_ids(e) & (siblings - answered))
        yield event


def _response_ids(event: Event) -> set[str | None]:
    return {response.id for response in event.get_function_responses()}


def _calling(call_id: str | None, events: Sequence[Event]) -> Event | None:
    for event in reversed(events):
        if any(call.id == call_id for call in event.get_function_calls()):
            return event
    return None
