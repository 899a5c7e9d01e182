"""Events that were taken back: dimmed and labelled in the timeline and the chat."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, Literal, TypeVar

from markupsafe import Markup

from devui.debugger.feed import Batch
from devui.debugger.news import EventCommitted
from devui.debugger.rewinds import NOTHING_TAKEN, REWINDS, TakenBack, taken_back
from devui.web.links import session_url
from devui.web.parts.chat import ChatMessage
from devui.web.parts.marks import TakenBackMark
from devui.web.parts.timeline import EventRow
from devui.web.push import prepend, remove
from devui.web.services import Services

Place = Literal["row", "message", "detail"]
_Item = TypeVar("_Item")
_PLACES: Final[tuple[tuple[Place, str, str], ...]] = (
    ("row", "e", "tb"),
    ("message", "m", "tm"),
    ("detail", "taken", "td"),
)
"""What may show an event, with how the ids of its slot and of the mark begin."""
_MOST: Final = 1000
"""The newest events, whose marks a page that is open follows."""


def taken_marked(items: Iterable[_Item], taken: TakenBack, session: int) -> tuple[_Item, ...]:
    """Rows and messages, those that were taken back with their marks."""
    if not taken.holding:
        return tuple(items)
    return tuple(_marked(item, taken, session) for item in items)


def _marked(item: _Item, taken: TakenBack, session: int) -> _Item:
    if isinstance(item, EventRow | ChatMessage):
        place: Place = "row" if isinstance(item, EventRow) else "message"
        return replace(item, taken=taken_mark(taken, item.number, session, place))
    return item


def taken_mark(taken: TakenBack, number: int, session: int, place: Place) -> TakenBackMark | None:
    """That the event was taken back; None for one that counts."""
    by = taken.by(number)
    return TakenBackMark(number, by, session_url(session, event=by), place) if by else None


class LiveRewinds:
    """The marks of one reader's page, which change when the session is taken back."""

    def __init__(self, found: Services, session: int) -> None:
        self._found = found
        self._session = session
        self.taken = NOTHING_TAKEN
        """What is taken back as of what the page shows."""

    async def begin(self, number: int) -> None:
        """Learn what the page shows, whose last event has this number."""
        self.taken = await taken_back(self._found.journal, self._session, until=number)

    async def hear(self, batch: Batch) -> Markup:
        """The pieces for what is taken back now and was not, and the other way round."""
        news = [item for item in batch.news if isinstance(item, EventCommitted)]
        if not any(REWINDS in item.data for item in news):
            return Markup("")
        before, last = self.taken, news[-1].row.number
        await self.begin(last)
        return Markup("").join(
            self._pieces(number)
            for number in range(max(1, last - _MOST), last)
            if before.by(number) != self.taken.by(number)
        )

    def _pieces(self, number: int) -> Markup:
        pieces = Markup("")
        for place, slot, mark_id in _PLACES:
            pieces += remove(f"#{mark_id}-{number}")
            if mark := taken_mark(self.taken, number, self._session, place):
                pieces += prepend(f"#{slot}-{number}", self._found.render.part(mark))
        return pieces
