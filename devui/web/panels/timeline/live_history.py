"""What a session's news adds to the timeline and chat of one reader's page.

If more than a window arrives at once, the page gets the newest window and a gap for the events
before it. The page itself turns what scrolls out of view into gaps.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace as replace_fields
from itertools import takewhile
from typing import Final

from markupsafe import Markup

from devui.debugger.events.feed import Batch
from devui.debugger.events.news import EventCommitted, EventDropped, RunChanged
from devui.debugger.predicates.facts import Facts
from devui.debugger.predicates.filters import Filter, FilterInput
from devui.debugger.questions.requesters import askers_in
from devui.debugger.timeline import Entry, Line, News, Timeline, fold
from devui.store.rows import EventRow, RunRow, SessionRow
from devui.store.runs.work_time import duration_of
from devui.store.summaries import ANSWERS, Summary
from devui.web.htmx import append, fill, remove, replace
from devui.web.page_query import PageQuery
from devui.web.panels.artifacts.saved import saved_files
from devui.web.panels.breakpoints.gutter import Gutter
from devui.web.panels.chat.chat import (
    answers_in,
    ask_slot,
    conversation,
    lost_outcome,
    markdown_texts,
    open_slots,
    spoken_by,
    tool_outcomes,
    updated_fields,
)
from devui.web.panels.chat.parts import ToolChip
from devui.web.panels.chat.run_notes import run_note
from devui.web.panels.session.page import newest
from devui.web.panels.timeline.dirty_reads import Lost, lost_reads, with_lost_marks
from devui.web.panels.timeline.figures import invocations, later_parts
from devui.web.panels.timeline.filtering import filter_summary, of_run_end, with_matches
from devui.web.panels.timeline.live_rewinds import LiveRewinds
from devui.web.panels.timeline.parts import InvocationHeader
from devui.web.panels.timeline.rewind_marks import with_rewind_marks
from devui.web.panels.timeline.rows import RowContext, invocation_header
from devui.web.panels.timeline.runs import run_end
from devui.web.panels.timeline.window import (
    SIZE,
    body_in_thread,
    ends_in_error,
    last_answers,
    window_before,
)
from devui.web.services import Services
from devui.web.text.markdown import prepare

_FEW: Final = 8


class LiveHistory:
    """The part of one page's events that the next piece depends on."""

    def __init__(
        self, services: Services, session: SessionRow, *, event_filter: Filter | None
    ) -> None:
        self._services = services
        self._session, self._key = session, session.key
        self._timeline = Timeline()
        self._rewinds = LiveRewinds(services, session.key)
        self._filter = event_filter
        self._lost: Lost = {}
        """The marks of lost reads in the newest run, for the rows that are added next."""
        self._matches = 0
        """The number of events that match the filter."""
        self._speaker: str | None = None
        """The last message's author; the next message continues it if it has the same author."""
        self._is_error = False
        """Whether the last event is an error, and the page has shown no end of a run since."""
        self._open: set[str] = set()
        """The chips of calls without a result so far."""
        self._long_running: set[str | None] = set()
        """The current run's calls whose tools may return more results after the first."""

    async def begin(self, after: int) -> int:
        """Load what the page shows up to seq `after`, and return the number of its last event."""
        self._timeline, group = await self._page_end(after)
        number = self._timeline.last.number if self._timeline.last else 0
        await self._rewinds.begin(number)
        going = await self._going(after)
        for row in group:
            if row.run in going:
                self._wait_for(row.number, row.summary)
        await self._begin_chat(after)
        return number

    async def _page_end(self, after: int) -> tuple[Timeline, list[EventRow]]:
        """Return the end of the page's timeline, and the newest events of the last invocation."""
        rows = await self._services.journal.events.page(self._key, before=after + 1, limit=SIZE + 1)
        if not rows:
            return Timeline(), []
        last = rows[-1]
        group = _of_last(rows)
        page_rows = rows if self._filter is None else await self._matching(after)
        has_header = bool(page_rows) and page_rows[-1].invocation_id == last.invocation_id
        under = _of_last(page_rows)[-SIZE:] if has_header else group
        continued = has_header and len(under) < len(_of_last(page_rows))
        has_row = bool(page_rows) and page_rows[-1].number == last.number
        ends_with_row = has_row and not await self._has_more(last, after)
        timeline = Timeline(last, under[0], continued, has_header, ends_with_row=ends_with_row)
        return timeline, group[-SIZE:]

    async def _has_more(self, last: EventRow, after: int) -> bool:
        """Return whether a row follows the last event's: a run's end, or a dropped event."""
        journal, event_filter = self._services.journal, self._filter
        runs = await journal.runs.since(self._key, last.seq, until=after + 1)
        ends = [end for run in runs if (end := run_end(run))]
        if event_filter is not None:
            return any(event_filter.holds(of_run_end(end)) for end in ends)
        return bool(ends or await journal.edits.dropped(self._key, last.seq, after + 1))

    async def _matching(self, after: int) -> list[EventRow]:
        """Return the newest events that match the filter."""
        event_filter = self._filter
        filter_field = FilterInput(event_filter.text if event_filter else "", event_filter)
        query = PageQuery(filter_field=filter_field)
        matches = (await with_matches(self._services, self._session, query, head=after)).matches
        numbers = matches.numbers if matches else ()
        self._matches = len(numbers)
        return await self._services.journal.events.rows(self._key, numbers[-SIZE - 1 :])

    async def _going(self, after: int) -> set[str]:
        """Return the runs in progress at `after`, including those that have ended since."""
        live = self._services.runs.live(self._key)
        ended_runs = await self._services.journal.runs.since(self._key, after)
        return {run.id for run in ended_runs} | ({live.row.id} if live is not None else set())

    async def _begin_chat(self, after: int) -> None:
        """Load the end of the chat, which is usually among the last few events."""
        for size in (_FEW, SIZE):
            window = await window_before(self._services.journal, self._key, after + 1, size=size)
            self._speaker, self._is_error = window.speaker, ends_in_error(window.last_segment)
            if window.ends or window.messages():
                return

    async def add(self, batch: Batch, lost: Lost) -> Markup:
        """Return what the batch adds, with marks of lost reads, and the rewinds' changes."""
        self._lost = lost
        marks = await self._rewinds.hear(batch)
        return await self._grow(batch) + marks

    async def _grow(self, batch: Batch) -> Markup:
        """Return what the batch adds; if that exceeds a window, the newest one after a gap."""
        count = sum(isinstance(news, EventCommitted) for news in batch.news)
        return await (self._window(batch) if count > SIZE else self._add_news(batch))

    async def _window(self, batch: Batch) -> Markup:
        services, render, last = self._services, self._services.render, self._timeline.last
        self._open.clear()
        await self.begin(batch.seq)
        after = last.number if last else 0
        latest = await newest(services, self._session, batch.seq, self._filter, after=after)
        await prepare(markdown_texts(latest.messages.items))
        rows = replace_fields(
            latest.rows, items=tuple(with_lost_marks(latest.rows.items, self._lost))
        )
        continued_headers = (
            replace(f"#{item.group}", render.part(item))  # the page keeps the first of two headers
            for item in rows.items[:1]
            if isinstance(item, InvocationHeader) and item.continued
        )
        return (
            Markup("").join(continued_headers)
            + append("#rows", render.part(rows))
            + append("#messages", render.part(latest.messages))
            + await self._former_answers(batch)
            + self._filter_summary()
        )

    async def _add_news(self, batch: Batch) -> Markup:
        rows, updates = await self._rows(batch)
        messages = Markup("")
        for events, run in _segments(batch.news):
            if events:
                more, outcomes = await self._messages(events, over=run is not None)
                messages, updates = messages + more, updates + outcomes
                self._is_error = ends_in_error([event.row for event in events])
            if run is not None:
                note, outcomes = self._end(run)
                messages, updates = messages + note, updates + outcomes
        updates += await self._former_answers(batch) + self._filter_summary()
        updates += append("#rows", rows) if rows else ""
        return updates + (append("#messages", messages) if messages else "")

    async def _rows(self, batch: Batch) -> tuple[Markup, Markup]:
        """Return the rows to add, and the updates that they make to the page."""
        services, render = self._services, self._services.render
        gutter = Gutter.of(services.book, services.prices, self._session)
        self._timeline, changes = fold(self._timeline, [*self._news(batch, gutter)])
        added = [item.row for item in changes.items if isinstance(item, Line)]
        answers = await last_answers(services.journal, self._key, added, until=batch.seq + 1)
        only = self._filter.text if self._filter else ""
        heading = changes.heading or (self._timeline.heading if _ends(batch) else None)
        headings = [heading] if heading and heading not in changes.items else []
        count = self._timeline.last.number if self._timeline.last else 0
        under = await invocations(
            services.journal,
            services.prices,
            self._key,
            (*headings, *changes.items),
            until=count,
        )
        parts = await later_parts(services.journal, self._key, (*headings, *changes.items))
        items = RowContext(gutter, under, only=only, answers=answers, parts=parts).items(
            changes.items
        )
        lost = await lost_reads(services.journal, self._key, added)
        marks = with_lost_marks(items, {**lost, **self._lost})
        rows = render.parts(with_rewind_marks(marks, self._rewinds.rewinds, self._key))
        headers = [
            invocation_header(each, under[each.row.number], parts.get(each.row.number, 0))
            for each in headings
        ]
        updates = (replace(f"#{header.group}", render.part(header)) for header in headers)
        return rows, Markup("").join(updates)

    def _news(self, batch: Batch, gutter: Gutter) -> Iterator[News]:
        """Yield the news that the timeline takes in: those that match the filter."""
        before, event_filter = self._timeline.last, self._filter
        for item in batch.news:
            if isinstance(item, EventCommitted):
                is_shown = (
                    event_filter is None or event_filter.holds(_facts(item, before, gutter)) is True
                )
                self._matches += is_shown
                before = item.row
                yield Entry(item.row, is_shown)
            elif isinstance(item, EventDropped) and event_filter is None:
                yield item.row
            elif isinstance(item, RunChanged) and _is_over(item.run):
                end = run_end(item.run)
                if end and (event_filter is None or event_filter.holds(of_run_end(end))):
                    yield item.run

    async def _former_answers(self, batch: Batch) -> Markup:
        """Remove the mark from answers that are no longer the last of their invocation."""
        rows = [news.row for news in batch.news if isinstance(news, EventCommitted)]
        final = [row for row in rows if row.final and row.kind in ANSWERS]
        former = (
            await last_answers(self._services.journal, self._key, final, until=rows[0].seq)
            if final
            else ()
        )
        return Markup("").join(remove(f"#f-{number} .flag.final") for number in former)

    def _filter_summary(self) -> Markup:
        """Return how many events are shown now, if there is a filter."""
        if self._filter is None:
            return Markup("")
        count = self._timeline.last.number if self._timeline.last else 0
        return fill(
            "#filter-said", self._services.render.part(filter_summary(self._matches, count))
        )

    def _end(self, run: RunRow) -> tuple[Markup, Markup]:
        """Return the message about a run's end, and the outcomes of its open calls."""
        render = self._services.render
        lost_outcomes = [lost_outcome(slot) for slot in sorted(self._open)]
        self._open.clear()
        self._long_running.clear()
        outcomes = Markup("").join(fill(f"#{o.slot}", render.part(o)) for o in lost_outcomes)
        note = run_note(run, follows_error=self._is_error)
        if run_end(run):
            self._speaker, self._is_error = None, False
        return render.part(note) if note else Markup(""), outcomes

    def _wait_for(self, number: int, summary: Summary) -> None:
        self._open |= set(open_slots(number, summary))
        self._long_running |= {call.id for call in summary.calls if call.long_running}
        self._open -= {o.slot for o in tool_outcomes(number, summary, session=self._key)}

    async def _messages(self, news: list[EventCommitted], *, over: bool) -> tuple[Markup, Markup]:
        """Return the messages to add and the outcomes for chips on the page.

        `over` is whether the run has ended.
        """
        key, render = self._key, self._services.render
        events = [(n.row.number, await body_in_thread(n.row, n.event), n.row.summary) for n in news]
        for number, _, summary in events:
            self._wait_for(number, summary)
        bodies, journal = [event for _, event, _ in events], self._services.journal
        messages = conversation(
            events,
            session=key,
            previous_author=self._speaker,
            going_on=None if over else 0,
            askers=await askers_in(journal, key, bodies),
            saved_files=await saved_files(journal, key, bodies),
        )
        messages = with_rewind_marks(messages, self._rewinds.rewinds, key)
        if messages:
            self._speaker = spoken_by(messages[-1])
        await prepare(markdown_texts(messages))
        chips = (
            part for message in messages for part in message.parts if isinstance(part, ToolChip)
        )
        here = {chip.outcome.slot for chip in chips}
        outcomes = Markup("").join(
            fill(f"#{outcome.slot}", render.part(outcome))
            for number, _, summary in events
            for outcome in tool_outcomes(number, summary, session=key)
            if outcome.slot not in here
        )
        updates = Markup("").join(
            fill(f"#{fields.slot}-fields", render.part(fields))
            for _, event, _ in events
            for fields in updated_fields(event, self._long_running)
        )
        removals = Markup("").join(
            remove(f"#{ask_slot(answer.id)}")
            for _, event, summary in events
            for answer in answers_in(event.author, summary)
            if answer.id
        )
        return render.parts(messages), outcomes + updates + removals


def _ends(batch: Batch) -> bool:
    """Return whether a run has ended: only then is the duration of its invocation known."""
    return any(isinstance(news, RunChanged) and _is_over(news.run) for news in batch.news)


def _facts(item: EventCommitted, before: EventRow | None, gutter: Gutter) -> Facts:
    """Return the facts that a filter can use about an event."""
    row = item.row
    seconds = duration_of(row, before)
    facts = Facts.of(row, row.summary, seconds=seconds, prices=gutter.prices)
    return facts.reading(item.event.text)


def _of_last(rows: list[EventRow]) -> list[EventRow]:
    """Return the last rows, as far back as they share an invocation."""
    same = takewhile(lambda row: row.invocation_id == rows[-1].invocation_id, reversed(rows))
    return [*same][::-1]


def _is_over(run: RunRow) -> bool:
    """Return whether the run has ended and its end is in the journal; before that, the end has no
    place in the order."""
    return run.ended is not None and not run.pending


def _segments(news: Iterable[object]) -> Iterator[tuple[list[EventCommitted], RunRow | None]]:
    """Yield the events between the ends of runs, each time with the end that follows."""
    events: list[EventCommitted] = []
    for item in news:
        if isinstance(item, EventCommitted):
            events.append(item)
        elif isinstance(item, RunChanged) and _is_over(item.run):
            yield events, item.run
            events = []
    yield events, None
