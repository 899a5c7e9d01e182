"""The timeline of a session: one fold over its history, shared by everything that shows it.

The page, an older window, a filter, the stream and the export all turn history into the same rows:
a heading for each invocation, its events below it, and between them dropped events and the ends of
runs. `fold` decides where headings go. The totals of an invocation (`Invocation`) don't depend on
which of its events are folded, and the caller decides how a row looks.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from devui.store.rows import EditRow, EventRow, RunRow


@dataclass(frozen=True, slots=True)
class Entry:
    """An event to add to a timeline."""

    row: EventRow
    is_shown: bool = True
    """Whether it has a row of its own; false if a filter hides it."""


News: TypeAlias = Entry | EditRow | RunRow
"""An event, a dropped event, or a run whose end is worth a row."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading above the events of an invocation."""

    row: EventRow
    """An event of the invocation."""
    continued: bool
    """Whether the invocation began before the first row under the heading."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """The totals in a heading, over the whole invocation, however little of it a page shows."""

    events: int
    seconds: float
    """Time at work, in seconds, without the time held. Finished runs count from start to end."""
    held: float
    """How long its runs were held, in seconds."""
    tokens: int | None
    """None if no model reported a count."""
    cost: float | None
    """The sum of the known costs, in dollars; None if none is known."""
    is_unpriced: bool
    """Whether the cost of some answers is unknown, and missing from `cost`."""
    failures: int
    """How many of the events are errors or contain a failed tool's result."""
    message: EventRow | None
    """The user's first message, if any."""


@dataclass(frozen=True, slots=True)
class Line:
    """The row of an event."""

    row: EventRow
    previous: EventRow | None
    """The preceding event, shown or not."""
    follows: bool = False
    """Whether its row directly follows the row of the preceding event."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The row of a run's end."""

    run: RunRow
    previous: EventRow | None
    """The event whose row it directly follows, if any."""


Item: TypeAlias = Heading | Line | EditRow | Ending


@dataclass(frozen=True, slots=True)
class Changes:
    """The effect of news on a timeline."""

    items: tuple[Item, ...]
    """The items to append."""
    heading: Heading | None = None
    """The replacement for the last heading, if that changes."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """The end of a timeline: what the next item depends on."""

    last: EventRow | None = None
    """The last event, shown or not."""
    first: EventRow | None = None
    """The first event of the current invocation: under the last heading, or under the one that the
    next row will bring."""
    continued: bool = False
    """Whether the invocation of `first` began before it."""
    has_heading: bool = False
    """Whether the current invocation has its heading."""
    ends_with_row: bool = True
    """Whether the last event has a row and nothing follows it."""

    @property
    def heading(self) -> Heading | None:
        """The last heading, if the current invocation has one."""
        return Heading(self.first, self.continued) if self.first and self.has_heading else None


def fold(timeline: Timeline, news: Iterable[News]) -> tuple[Timeline, Changes]:
    """Apply news in order; return the timeline after it, and the changes."""
    end = _End(timeline)
    for item in news:
        if isinstance(item, Entry):
            end.add(item)
            continue
        previous = end.last if end.ends_with_row else None
        end.items.append(Ending(item, previous) if isinstance(item, RunRow) else item)
        end.ends_with_row = False
    changes = Changes(tuple(end.items), end.heading)
    after = Timeline(
        end.last, end.first, end.continued, end.has_heading, ends_with_row=end.ends_with_row
    )
    return after, changes


class _End:
    """The end of a growing timeline."""

    def __init__(self, timeline: Timeline) -> None:
        self.last, self.first = timeline.last, timeline.first
        self.continued, self.has_heading = timeline.continued, timeline.has_heading
        self.ends_with_row = timeline.ends_with_row
        self.items: list[Item] = []
        self.heading: Heading | None = None
        """The replacement for a heading that an earlier fold added."""
        self._has_headed = False
        """Whether the last heading is one of `items`."""

    def add(self, entry: Entry) -> None:
        row, last = entry.row, self.last
        same = last is not None and last.invocation_id == row.invocation_id
        if self.first is None or not same:
            self.first, self.continued, self.has_heading = row, same, False
        elif self.has_heading and not self._has_headed:
            self.heading = Heading(self.first, self.continued)
        if entry.is_shown:
            if not self.has_heading:
                self.has_heading = self._has_headed = True
                self.items.append(Heading(self.first, self.continued))
            follows = last is not None and self.ends_with_row
            self.items.append(Line(row, last, follows))
        self.last, self.ends_with_row = row, entry.is_shown
