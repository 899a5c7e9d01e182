"""The rows that one reader's timeline grows by."""

from collections.abc import Sequence
from itertools import takewhile

from markupsafe import Markup

from devui.debugger.filters import Facts, Filter, Typed
from devui.debugger.rewinds import NOTHING_TAKEN
from devui.debugger.summary import Summary
from devui.debugger.worktime import seconds_of_work
from devui.store.rows import EditRow, EventRow, SessionRow
from devui.web.parts import every as parts
from devui.web.presenters.breaking import Asked
from devui.web.presenters.dropped import dropped_row, with_dropped
from devui.web.presenters.filtering import filter_said, linked, sought
from devui.web.presenters.lostreads import Lost, lost_reads, marked
from devui.web.presenters.margins import Margins
from devui.web.presenters.rewound import taken_marked
from devui.web.presenters.rows import group_id, invocation_header, timeline_items
from devui.web.presenters.window import SIZE
from devui.web.push import fill, replace
from devui.web.services import Services


class LiveTimeline:
    """What the timeline of one page ends with, as far as the next row depends on it."""

    def __init__(self, found: Services, session: SessionRow, wanted: Filter | None) -> None:
        self._found = found
        self._session = session
        self._wanted = wanted
        self.taken = NOTHING_TAKEN
        """What was taken back, as of the rows that are added next."""
        self.lost: Lost = {}
        """The marks of the newest run, as of the rows that are added next."""
        self.group: list[tuple[EventRow, Summary]] = []
        """The events of the last invocation, whether or not the filter lets them through."""
        self._continued = False
        """Whether that invocation began before the page does."""
        self._headed = False
        """Whether its header is on the page."""
        self._count = 0
        self._shown = 0

    @property
    def failed(self) -> bool:
        """Whether the last event is an error."""
        return bool(self.group) and self.group[-1][1].kind == "error"

    async def begin(self, after: int) -> int:
        """Learn what the page shows up to the journal's `after`; the number of the last event."""
        journal, key = self._found.journal, self._session.key
        before = await journal.events.page(key, before=after + 1, limit=SIZE + 1)
        if not before:
            return 0
        last = before[-1]
        same = takewhile(lambda row: row.invocation_id == last.invocation_id, reversed(before))
        of_last = list(same)
        self._continued = len(of_last) > SIZE
        shown = reversed(of_last[:SIZE])
        self.group = [(row, Summary.from_json(row.summary)) for row in shown]
        self._count, self._headed = last.number, True
        if self._wanted is not None:
            await self._look(self._wanted, after, last)
        return last.number

    async def add(
        self, news: Sequence[tuple[EventRow, str]], drops: list[EditRow]
    ) -> tuple[Markup, Markup]:
        """Rows to add for committed events with their JSON, and what they change of the page."""
        if not news:
            fell = [] if self._wanted else [dropped_row(drop) for drop in drops]
            return self._found.render.parts(fell), Markup("")
        events = [(row, Summary.from_json(row.summary)) for row, _ in news]
        margins = Margins.of(self._found, self._session)
        previous = self.group[-1][0] if self.group else None
        first = events[0][0].invocation_id
        same = previous is not None and previous.invocation_id == first
        own = [pair for pair in events if pair[0].invocation_id == first] if same else []
        header = Markup("")
        rows = timeline_items(events, margins, previous=previous)
        items = taken_marked(rows, self.taken, self._session.key)
        if own:
            whole = invocation_header([*self.group, *own], margins, continued=self._continued)
            html = self._found.render.part(whole)
            header = replace(f"#{group_id(first)}", html) if self._headed else header
            items = (whole, *items[1:])
        kept = [*items]
        if self._wanted:
            through = self._through(news, events, items, margins)
            kept = [linked(item, self._session.key, self._wanted) for item in through]
        on_page = same and self._headed
        if on_page and kept and isinstance(kept[0], parts.InvocationHeader) and own:
            kept = kept[1:] if kept[0].group == group_id(first) else kept
        if not self._wanted:
            kept = with_dropped(kept, (row for row, _ in events), drops)
        self._remember(events, kept, same=same)
        lost = await lost_reads(self._found.journal, self._session.key, (row for row, _ in events))
        return self._found.render.parts(marked(kept, {**lost, **self.lost})), header

    def said(self) -> Markup:
        """How many events are shown now, if there is a filter."""
        if self._wanted is None:
            return Markup("")
        told = filter_said(self._shown, self._count)
        return fill("#filter-said", self._found.render.part(told))

    async def _look(self, wanted: Filter, after: int, last: EventRow) -> None:
        asked = Asked(typed=Typed(wanted.text, wanted))
        found = (await sought(self._found, self._session, asked, head=after)).matches
        numbers = found.numbers if found else ()
        self._shown = len(numbers)
        newest = await self._found.journal.events.rows(self._session.key, numbers[-1:])
        self._headed = bool(newest) and newest[0].invocation_id == last.invocation_id

    def _through(
        self,
        news: Sequence[tuple[EventRow, str]],
        events: Sequence[tuple[EventRow, Summary]],
        items: Sequence[parts.TimelineItem],
        margins: Margins,
    ) -> list[parts.TimelineItem]:
        """The items that the filter lets through, and the headers above them."""
        yes: set[int] = set()
        before = self.group[-1][0] if self.group else None
        for (row, data), (_, summary) in zip(news, events, strict=True):
            elapsed = seconds_of_work(row, before)
            cost = margins.cost(summary)
            facts = Facts.of(row, summary, elapsed=elapsed, cost=cost, data=data)
            if self._wanted is not None and self._wanted.holds(facts):
                yes.add(row.number)
            before = row
        self._shown += len(yes)
        kept: list[parts.TimelineItem] = []
        for item in reversed(items):
            if isinstance(item, parts.EventRow) and item.number in yes:
                kept.append(item)
            elif isinstance(item, parts.InvocationHeader) and kept:
                below = kept[-1]
                if isinstance(below, parts.EventRow) and below.group == item.group:
                    kept.append(item)
        return kept[::-1]

    def _remember(
        self,
        events: Sequence[tuple[EventRow, Summary]],
        kept: Sequence[parts.TimelineItem],
        *,
        same: bool,
    ) -> None:
        last = events[-1][0]
        stays = same and last.invocation_id == events[0][0].invocation_id
        of_last = [pair for pair in events if pair[0].invocation_id == last.invocation_id]
        self._continued = self._continued and stays
        self.group = [*(self.group if stays else []), *of_last]
        added = any(
            isinstance(item, parts.EventRow) and item.group == group_id(last.invocation_id)
            for item in kept
        )
        self._headed = added or (stays and self._headed)
        self._count = last.number
