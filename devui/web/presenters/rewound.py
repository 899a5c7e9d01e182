"""Events that were taken back: dimmed and labelled in the timeline and the chat."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, TypeVar

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

_Item = TypeVar("_Item")
_MOST: Final = 1000
"""The newest events, whose marks a page that is open follows."""


def taken_marked(items: Iterable[_Item], taken: TakenBack, session: int) -> tuple[_Item, ...]:
    """Rows and messages, those that were taken back with their marks."""
    if not taken.holding:
        return tuple(items)
    return tuple(_marked(item, taken, session) for item in items)


def _marked(item: _Item, taken: TakenBack, session: int) -> _Item:
    if isinstance(item, EventRow | ChatMessage):
        in_row = isinstance(item, EventRow)
        return replace(item, taken=_mark(taken, item.number, session, in_row=in_row))
    return item


def _mark(taken: TakenBack, number: int, session: int, *, in_row: bool) -> TakenBackMark | None:
    by = taken.by(number)
    return TakenBackMark(number, by, session_url(session, event=by), in_row) if by else None


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
        pieces = remove(f"#tb-{number}") + remove(f"#tm-{number}")
        for slot, in_row in ((f"#e-{number}", True), (f"#m-{number}", False)):
            if mark := _mark(self.taken, number, self._session, in_row=in_row):
                pieces += prepend(slot, self._found.render.part(mark))
        return pieces
