"""Events that a page leaves out until its reader scrolls there.

A page shows a window of a session. A gap stands for the events on either side of it and takes up
their room. When it scrolls into view, it is replaced by the events that belong there, with gaps for
the rest. So a list of any length scrolls as one, and the page holds a few screens of elements.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from devui.web.links import session_url

MOST: Final = 160
"""Maximum number of events with which one request fills a gap."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Events `first` to `last` (numbers); `count` of them have a row or a message."""

    template: ClassVar[str] = "timeline/gap.html"
    first: int
    last: int
    count: int
    page_href: str
    """The page around the last of its events, for browsers without JavaScript."""
    in_grid: bool = True
    """Whether it is among the rows; if not, it is among the messages of the chat."""
    group: str = ""
    """DOM id of the header of its events' invocation; "" if they are, or may be, of several."""
    path: str = ""
    """The path of the agent that all its events are under; "" if unknown."""
    totals: str = ""
    """Totals of its events, for the sums of a fold: JSON as in static/js/timeline/totals.js; "" if
    unknown."""


class GapSection(NamedTuple):
    """The part of a gap that its reader has scrolled to."""

    first: int
    last: int
    skip: int
    """The number of the gap's rows above it."""
    limit: int

    @classmethod
    def of(cls, first: int, last: int, skip: int, limit: int) -> "GapSection":
        """Return a section of 1 to MOST events."""
        skip = min(skip, max(last - first, 0))
        return cls(first, last, skip, min(max(limit, 1), MOST))

    def of_its(self, numbers: Sequence[int]) -> Sequence[int]:
        """Return those of the ascending numbers that are in the gap."""
        return numbers[bisect_left(numbers, self.first) : bisect_right(numbers, self.last)]

    @property
    def numbers(self) -> tuple[int, int]:
        """The numbers of its first and last event, if each event of the gap has a row."""
        start = self.first + self.skip
        return start, min(start + self.limit - 1, self.last)


def gap(
    session: int,
    first: int,
    last: int,
    count: int | None = None,
    *,
    at: int | None = None,
    only: str = "",
    in_grid: bool = True,
) -> Gap | None:
    """Return the gap of these events, or of `count` of them; None if there are none.

    `at` is the event that the page is as of, `only` the current filter; links keep both.
    """
    count = last - first + 1 if count is None else count
    if count <= 0 or first > last:
        return None
    return Gap(first, last, count, session_url(session, event=last, at=at, only=only), in_grid)
