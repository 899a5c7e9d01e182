"""Which events of a history still count after rewinds (adk-runtime 2.7)."""

from collections.abc import Iterator, Sequence

from devui.runtime.events.event import Event


def live_events_backwards(events: Sequence[Event]) -> Iterator[Event]:
    """The events that count, newest first; reads no further back than it is iterated.

    A rewind takes back itself and all from the first event of its invocation on. One that names
    an unknown invocation takes back only itself.
    """
    index = len(events) - 1
    while index >= 0:
        event = events[index]
        rewound = event.actions.rewind_before_invocation_id
        if rewound is None:
            yield event
        else:
            index = _first_of(events, rewound, index)
        index -= 1


def live_events(events: Sequence[Event]) -> Sequence[Event]:
    """The events that count, oldest first; the same sequence if nothing was rewound."""
    if all(event.actions.rewind_before_invocation_id is None for event in events):
        return events
    return list(live_events_backwards(events))[::-1]


def _first_of(events: Sequence[Event], invocation_id: str, before: int) -> int:
    for index in range(before):
        if events[index].invocation_id == invocation_id:
            return index
    return before
