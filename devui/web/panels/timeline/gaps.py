"""Events that a page leaves out until its reader scrolls there.

A page shows a window of a session. A gap stands for the events on either side of it and takes the
room they would take. Where it comes into sight, it is replaced by those of its events that belong
there, with gaps for the rest: a list of any length scrolls as one, and has a few screens of
elements.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from devui.web.links import session_url

MOST: Final = 160
"""Events that one request fills a gap with."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Events `first` to `last` (numbers); `count` of them have a row or a message."""

    template: ClassVar[str] = "timeline/gap.html"
    first: int
    last: int
    count: int
    page_href: str
    """The page around the last of them, for browsers without JavaScript."""
    in_grid: bool = True
    """Among the rows; else among the messages of the chat."""
    group: str = ""
    """DOM id of the header of their invocation; "" if they are, or may be, of several."""
    path: str = ""
    """The agent of the invocation that all of them are under; "" if that is unknown."""
    totals: str = ""
    """What they come to, which a fold sums up: JSON in the form of static/js/timeline/totals.js; ""
    if that is unknown."""


class Stretch(NamedTuple):
    """The part of a gap that its reader looks at."""

    first: int
    last: int
    skip: int
    """How many of the gap's rows are above."""
    limit: int

    @classmethod
    def of(cls, first: int, last: int, skip: int, limit: int) -> "Stretch":
        """At least one event and at most MOST of them."""
        skip = min(skip, max(last - first, 0))
        return cls(first, last, skip, min(max(limit, 1), MOST))

    def of_its(self, numbers: Sequence[int]) -> Sequence[int]:
        """Those of the ascending numbers that are in the gap."""
        return numbers[bisect_left(numbers, self.first) : bisect_right(numbers, self.last)]

    @property
    def numbers(self) -> tuple[int, int]:
        """The first and the last number of its events, where each has a row."""
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
    """The gap of these events, all of them unless `count` says how many; None if there are none.

    `at` is the event that the page is as of, `only` the filter in force; links keep them.
    """
    count = last - first + 1 if count is None else count
    if count <= 0 or first > last:
        return None
    return Gap(first, last, count, session_url(session, event=last, at=at, only=only), in_grid)
