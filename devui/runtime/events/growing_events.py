"""Tracks how far the events of a session have been read (devui's own).

A session only grows at its end, so what was made from its events is extended with the new ones.
"""

from collections.abc import Sequence

from devui.runtime.events.event import Event


class GrowingEvents:
    """How far a growing list of events has been read."""

    def __init__(self) -> None:
        self._events: Sequence[Event] = ()
        """The list that was read last."""
        self.count = 0
        """How many of its events have been read."""
        self._last: Event | None = None

    def __len__(self) -> int:
        return self.count

    def goes_on(self, events: Sequence[Event]) -> bool:
        """Return whether these are the events read before, perhaps with more after them.

        Within a turn, it is the same list, which grows. The next turn has its own list, and its
        service may have read the last turn's events again; then all are compared. That is quick,
        since comparing lists only looks into events that are not the same objects.
        """
        if len(events) < self.count:
            return False
        if events is self._events:
            return self.count == 0 or events[self.count - 1] is self._last
        return events[: self.count] == self._events[: self.count]

    def new(self, events: Sequence[Event]) -> Sequence[Event]:
        """Return the events that have not been read."""
        return events[self.count :]  # not `islice`, which walks through all earlier ones

    def look(self, events: Sequence[Event]) -> None:
        """Record that all of these have been read."""
        self._events, self.count = events, len(events)
        self._last = events[-1] if events else None

    def go_back(self, count: int = 0) -> None:
        """Record that only `count` events have been read."""
        self.count = count
        self._last = self._events[count - 1] if count else None
