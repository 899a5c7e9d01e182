"""Events that were taken back: dimmed and labelled in the timeline and the chat."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final, Literal, TypeVar

from markupsafe import Markup

from devui.debugger.events.feed import Batch
from devui.debugger.events.news import EventCommitted
from devui.debugger.history.rewinds import NOTHING_TAKEN, REWINDS, TakenBack, taken_back
from devui.web.htmx import renew
from devui.web.links import session_url
from devui.web.panels.chat.parts import ChatMessage
from devui.web.panels.inspector.mark_parts import RewindMark, RewindNews
from devui.web.panels.timeline.parts import EventRow
from devui.web.services import Services

Place = Literal["row", "message", "detail"]
_Item = TypeVar("_Item")
_PLACES: Final[tuple[Place, ...]] = ("row", "message", "detail")
_ANY: Final = 0
"""In place of its number, of an event that is one of many."""


def with_rewind_marks(
    items: Iterable[_Item], taken_back: TakenBack, session: int
) -> tuple[_Item, ...]:
    """Rows and messages, those that were taken back with their marks."""
    if not taken_back.holding:
        return tuple(items)
    return tuple(_mark(item, taken_back, session) for item in items)


def _mark(item: _Item, taken_back: TakenBack, session: int) -> _Item:
    if isinstance(item, EventRow | ChatMessage):
        place: Place = "row" if isinstance(item, EventRow) else "message"
        return replace(item, rewind=rewind_mark(taken_back, item.number, session, place))
    return item


def rewind_mark(
    taken_back: TakenBack, number: int, session: int, place: Place
) -> RewindMark | None:
    """That the event was taken back; None for one that counts."""
    by = taken_back.by(number)
    return RewindMark(number, by, session_url(session, event=by), place) if by else None


class LiveRewinds:
    """The marks of one reader's page, which change when the session is taken back."""

    def __init__(self, services: Services, session: int) -> None:
        self._services = services
        self._session = session
        self.taken_back = NOTHING_TAKEN
        """What is taken back as of what the page shows."""

    async def begin(self, number: int) -> None:
        """Learn what the page shows, whose last event has this number."""
        self.taken_back = await taken_back(self._services.journal, self._session, until=number)

    async def hear(self, batch: Batch) -> Markup:
        """What is taken back now and was not, and the other way round: ranges, however long they
        are, for the page alone knows what of them it shows."""
        news = [item for item in batch.news if isinstance(item, EventCommitted)]
        if not any(REWINDS in item.event.text for item in news):
            return Markup("")
        before, last = self.taken_back, news[-1].row.number
        await self.begin(last)
        ranges = _ranges(before, self.taken_back, last)
        return renew("#rewind-news", self._services.render.parts(map(self._news, ranges)))

    def _news(self, numbers: range) -> RewindNews:
        by = self.taken_back.by(numbers.start)
        if by is None:
            return RewindNews(numbers.start, numbers[-1])
        href = session_url(self._session, event=by)
        marks = tuple(RewindMark(_ANY, by, href, place) for place in _PLACES)
        return RewindNews(numbers.start, numbers[-1], marks)


def _ranges(before: TakenBack, now: TakenBack, last: int) -> Iterator[range]:
    """Events before the last one, by who took them back, where that is not as it was before."""
    holding = {*before.holding, *now.holding}
    bounds = {rewind.first for rewind in holding} | {rewind.number for rewind in holding}
    inner = {bound for number in bounds for bound in (number, number + 1) if bound < last}
    for first, end in pairwise(sorted(inner | {1, last})):
        if before.by(first) != now.by(first):
            yield range(first, end)
