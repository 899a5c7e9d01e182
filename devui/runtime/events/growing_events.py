"""How far the events of a session have been looked at (devui's own).

A session only grows at its end, so what was made of its events goes on with those that are new.
"""

from collections.abc import Sequence

from devui.runtime.events.event import Event


class GrowingEvents:
    """A list of events, as far as it has been looked at, and the same list with more."""

    def __init__(self) -> None:
        self._events: Sequence[Event] = ()
        """The list as it was given last."""
        self.count = 0
        """How many have been looked at."""
        self._last: Event | None = None

    def __len__(self) -> int:
        return self.count

    def goes_on(self, events: Sequence[Event]) -> bool:
        """Whether these are the events seen before, and perhaps more.

        Within a turn it is the same list, which grows. The next turn has a list of its own, and its
        service may have read the last turn's events anew: then all are compared. That is quick,
        since the comparison of lists only looks into events that are not the same objects.
        """
        if len(events) < self.count:
            return False
        if events is self._events:
            return self.count == 0 or events[self.count - 1] is self._last
        return events[: self.count] == self._events[: self.count]

    def new(self, events: Sequence[Event]) -> Sequence[Event]:
        """Those that have not been looked at."""
        return events[self.count :]  # not `islice`, which walks through all before them

    def look(self, events: Sequence[Event]) -> None:
        """Note that all of these have been looked at."""
        self._events, self.count = events, len(events)
        self._last = events[-1] if events else None

    def go_back(self, count: int = 0) -> None:
        """Note that only so many have been looked at."""
        self.count = count
        self._last = self._events[count - 1] if count else None
