"""What a rewind changes on a page that shows the session live."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from markupsafe import Markup

from devui.debugger.events.feed import Batch
from devui.debugger.events.news import EventCommitted
from devui.debugger.history.rewinds import NO_REWINDS, REWINDS, EffectiveRewinds, effective_rewinds
from devui.web.htmx import renew, replace
from devui.web.links import session_url
from devui.web.panels.chat.chat import conversation
from devui.web.panels.inspector.mark_parts import RewindMark, RewindNews
from devui.web.panels.timeline.rewind_marks import Place, with_rewind_marks
from devui.web.panels.timeline.window import body
from devui.web.services import Services

_PLACES: Final[tuple[Place, ...]] = ("row", "message", "detail")
_ANY: Final = 0
"""Stands for the event number in the marks of a range of events."""


class LiveRewinds:
    """The marks of one reader's page that change when the session is rewound."""

    def __init__(self, services: Services, session: int) -> None:
        self._services = services
        self._session = session
        self.rewinds = NO_REWINDS
        """The rewinds as of the last event that the page shows."""

    async def begin(self, number: int) -> None:
        """Load the rewinds as of the page's last event, `number`."""
        self.rewinds = await effective_rewinds(self._services.journal, self._session, until=number)

    async def hear(self, batch: Batch) -> Markup:
        """Return the changes for events that were rewound or restored: as ranges of any length,
        since only the page knows which of them it shows. Messages of rewinds say whether they are
        in force."""
        news = [item for item in batch.news if isinstance(item, EventCommitted)]
        if not any(REWINDS in item.event.text for item in news):
            return Markup("")
        before, last = self.rewinds, news[-1].row.number
        await self.begin(last)
        ranges = _ranges(before, self.rewinds, last)
        marks = renew("#rewind-news", self._services.render.parts(map(self._news, ranges)))
        rewinds = {*before.holding} ^ {*self.rewinds.holding}
        first = news[0].row.number
        return await self._messages(each.number for each in rewinds if each.number < first) + marks

    async def _messages(self, rewinds: Iterable[int]) -> Markup:
        """Return the messages of these rewinds, rendered again."""
        bodies = await self._services.journal.events.bodies(self._session, rewinds)
        events = [(row.number, body(row, event), row.summary) for row, event in bodies]
        messages = conversation(events, session=self._session)
        return Markup("").join(
            replace(f"#m-{message.number}", self._services.render.part(message))
            for message in with_rewind_marks(messages, self.rewinds, self._session)
        )

    def _news(self, numbers: range) -> RewindNews:
        by = self.rewinds.by(numbers.start)
        if by is None:
            return RewindNews(numbers.start, numbers[-1])
        href = session_url(self._session, event=by)
        marks = tuple(RewindMark(_ANY, by, href, place) for place in _PLACES)
        return RewindNews(numbers.start, numbers[-1], marks)


def _ranges(before: EffectiveRewinds, now: EffectiveRewinds, last: int) -> Iterator[range]:
    """Yield the ranges of events before `last` whose rewind, if any, has changed."""
    holding = {*before.holding, *now.holding}
    bounds = {rewind.first for rewind in holding} | {rewind.number for rewind in holding}
    inner = {bound for number in bounds for bound in (number, number + 1) if bound < last}
    for first, end in pairwise(sorted(inner | {1, last})):
        if before.by(first) != now.by(first):
            yield range(first, end)
