"""Which events of a history still count after rewinds (adk-runtime 2.7)."""

from collections.abc import Iterator, Sequence
from itertools import islice
from operator import attrgetter, indexOf

from devui.runtime.events.event import Event

_INVOCATION = attrgetter("invocation_id")


def live_events_backwards(events: Sequence[Event]) -> Iterator[Event]:
    """Yield the events that count, newest first; reads the history only as far as needed.

    A rewind takes back itself and everything since the first event of its invocation. One that
    names an unknown invocation takes back only itself.
    """
    return map(events.__getitem__, _live_places_backwards(events))


def live_events(events: Sequence[Event]) -> Sequence[Event]:
    """Return the events that count, oldest first; the same sequence if nothing was rewound."""
    places = live_places(events)
    return events if isinstance(places, range) else [events[place] for place in places]


def live_places(events: Sequence[Event]) -> Sequence[int]:
    """Return the indexes of the events that count, in order; a range if nothing was rewound."""
    if all(event.actions.rewind_before_invocation_id is None for event in events):
        return range(len(events))
    return list(_live_places_backwards(events))[::-1]


def taken_back_from(events: Sequence[Event], rewind: int) -> int:
    """Return the index of the first event that the rewind at index `rewind` takes back."""
    before = map(_INVOCATION, islice(events, rewind))
    try:
        return indexOf(before, events[rewind].actions.rewind_before_invocation_id)
    except ValueError:
        return rewind


def _live_places_backwards(events: Sequence[Event]) -> Iterator[int]:
    index = len(events) - 1
    while index >= 0:
        if events[index].actions.rewind_before_invocation_id is None:
            yield index
        else:
            index = taken_back_from(events, index)
        index -= 1
