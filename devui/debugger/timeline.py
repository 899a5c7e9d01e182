"""A session's timeline: one fold over its history, for whoever shows it.

The page, an older window, a filter, the stream and the export all turn history into the same rows:
each invocation has a heading, under it its events, and between them what people dropped and how
runs ended. `fold` decides where headings go and what they cover. How a row looks is up to the
caller.
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
    counted: bool = True
    """The heading covers it although it may not be shown; false for an event of which only the
    row itself, or what follows it, is wanted."""


News: TypeAlias = Entry | EditRow | RunRow
"""An event, a dropped event, or a run that ended and has something to say about it."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands above the events of an invocation."""

    rows: tuple[EventRow, ...]
    """The events it covers, at least one."""
    continued: bool
    """The invocation began before them."""


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
    group: tuple[EventRow, ...] = ()
    """The events under the last heading, or under the one that comes with the next row."""
    continued: bool = False
    """Whether the invocation of the group began before it."""
    counted: bool = True
    """Whether the heading covers every event, and not only those shown."""
    headed: bool = False
    """Whether the group has its heading."""
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
    end.close()
    changes = Changes(tuple(item for item in end.items if item is not None), end.heading)
    group = tuple(end.group)
    after = Timeline(
        end.last, group, end.continued, end.counted, end.headed, ends_with_row=end.ends_with_row
    )
    return after, changes


class _End:
    """The end of a timeline while it grows; a heading is made once its group is complete."""

    def __init__(self, timeline: Timeline) -> None:
        self.last = timeline.last
        self.group = [*timeline.group]
        self.continued, self.counted = timeline.continued, timeline.counted
        self.headed, self.ends_with_row = timeline.headed, timeline.ends_with_row
        self.items: list[Item | None] = []
        self.heading: Heading | None = None
        self._place: int | None = None
        """Where the heading of the group goes; None if it has none, or had one before."""
        self._start = len(timeline.group)

    def add(self, entry: Entry) -> None:
        """Take in an event."""
        row, last = entry.row, self.last
        same = last is not None and last.invocation_id == row.invocation_id
        if self.group and (not same or (entry.counted and not self.counted)):
            self.close()
            self.group, self.headed, self._place = [], False, None
        if entry.is_shown or entry.counted:
            if not self.group:
                self.continued, self.counted = same, entry.counted
            self.group.append(row)
        if entry.is_shown:
            if not self.headed:
                self.headed, self._place = True, len(self.items)
                self.items.append(None)
            follows = last is not None and self.ends_with_row
            self.items.append(Line(row, last, follows))
        self.last, self.ends_with_row = row, entry.is_shown

    def close(self) -> None:
        """Make the heading of the group, if that is new or covers more now."""
        if self._place is not None:
            self.items[self._place] = Heading(tuple(self.group), self.continued)
        elif self.headed and len(self.group) > self._start:
            self.heading = Heading(tuple(self.group), self.continued)
