"""A session's timeline: one fold over its history, for whoever shows it.

The page, an older window, a filter, the stream and the export all turn history into the same rows:
each invocation has a heading, under it its events, and between them what people dropped and how
runs ended. `fold` decides where headings go. What an invocation came to (`Invocation`) doesn't
depend on the events that are folded, and how a row looks is up to the caller.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from devui.store.rows import EditRow, EventRow, RunRow


@dataclass(frozen=True, slots=True)
class Entry:
    """An event, as a timeline takes it in."""

    row: EventRow
    is_shown: bool = True
    """It has a row of its own; false if a filter leaves it out."""


News: TypeAlias = Entry | EditRow | RunRow
"""An event, a dropped event, or a run that ended and has something to say about it."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands above the events of an invocation."""

    row: EventRow
    """An event of the invocation."""
    continued: bool
    """The invocation began before the first row under it."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """What a heading says of its invocation, whatever of it a page shows."""

    events: int
    seconds: float
    """At work, without the time in which it was held."""
    held: float
    """Seconds in which its runs were held."""
    tokens: int | None
    """None if no model counted any."""
    cost: float | None
    """Dollars, as far as they are known; None if no answer's cost is."""
    is_unpriced: bool
    """The cost of some answers is unknown, and not in the sum."""
    failures: int
    """How many of the events are errors, or have a tool's error as a result."""
    message: EventRow | None
    """The user's first; None without."""


@dataclass(frozen=True, slots=True)
class Line:
    """An event's row."""

    row: EventRow
    previous: EventRow | None
    """The event before it, shown or not."""
    follows: bool = False
    """Its row comes directly after that of the event before."""


Item: TypeAlias = Heading | Line | EditRow | RunRow


@dataclass(frozen=True, slots=True)
class Changes:
    """What news change of a timeline."""

    items: tuple[Item, ...]
    """What follows at its end."""
    heading: Heading | None = None
    """What takes the place of its last heading."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """What a timeline ends with, as far as the next item depends on it."""

    last: EventRow | None = None
    """The last event, shown or not."""
    first: EventRow | None = None
    """The first event under the last heading, or under the one that comes with the next row."""
    continued: bool = False
    """Whether the invocation of that event began before it."""
    headed: bool = False
    """Whether it has its heading."""
    ends_with_row: bool = True
    """Whether the last event has a row, and nothing comes after it."""


def fold(timeline: Timeline, news: Iterable[News]) -> tuple[Timeline, Changes]:
    """The timeline after the news, given in order, and what they change of it."""
    end = _End(timeline)
    for item in news:
        if isinstance(item, Entry):
            end.add(item)
        else:
            end.items.append(item)
            end.ends_with_row = False
    changes = Changes(tuple(end.items), end.heading)
    after = Timeline(
        end.last, end.first, end.continued, end.headed, ends_with_row=end.ends_with_row
    )
    return after, changes


class _End:
    """The end of a timeline while it grows."""

    def __init__(self, timeline: Timeline) -> None:
        self.last, self.first = timeline.last, timeline.first
        self.continued, self.headed = timeline.continued, timeline.headed
        self.ends_with_row = timeline.ends_with_row
        self.items: list[Item] = []
        self.heading: Heading | None = None
        """What takes the place of the heading that was there before."""
        self._has_headed = False
        """Whether the last heading is among the items."""

    def add(self, entry: Entry) -> None:
        """Take in an event."""
        row, last = entry.row, self.last
        same = last is not None and last.invocation_id == row.invocation_id
        if self.first is None or not same:
            self.first, self.continued, self.headed = row, same, False
        elif self.headed and not self._has_headed:
            self.heading = Heading(self.first, self.continued)
        if entry.is_shown:
            if not self.headed:
                self.headed = self._has_headed = True
                self.items.append(Heading(self.first, self.continued))
            follows = last is not None and self.ends_with_row
            self.items.append(Line(row, last, follows))
        self.last, self.ends_with_row = row, entry.is_shown
