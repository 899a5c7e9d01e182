"""The timeline with a filter: the rows that match it, and the field that it is typed into.

Only the timeline is filtered. A selected event is always shown, or a link to it would lead nowhere;
its row says that it doesn't match.
"""

import asyncio
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from devui.debugger.events.matches import matches
from devui.debugger.history.paths import path_text
from devui.debugger.history.rewinds import effective_rewinds
from devui.debugger.predicates.facts import Facts
from devui.debugger.predicates.filters import FIELDS, FIGURES, Filter
from devui.debugger.timeline import Entry, News, Timeline, fold
from devui.store.journal import Journal
from devui.store.rows import EventRow as StoredEvent
from devui.store.rows import SessionRow
from devui.web.links import filter_words_url, moment_url, session_url
from devui.web.page_query import PageQuery
from devui.web.panels.breakpoints.gutter import Gutter
from devui.web.panels.timeline.dirty_reads import lost_reads, with_lost_marks
from devui.web.panels.timeline.figures import invocations, later_parts
from devui.web.panels.timeline.gaps import Gap, GapSection, gap
from devui.web.panels.timeline.panel_parts import FilterBar, FilterSummary, FilterWord, FilterWords
from devui.web.panels.timeline.parts import LiveRow, RunEnd, TimelineItem
from devui.web.panels.timeline.rewind_marks import with_rewind_marks
from devui.web.panels.timeline.rows import RowContext
from devui.web.panels.timeline.runs import run_end
from devui.web.panels.timeline.window import END, SIZE, last_answers
from devui.web.services import Services
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import plural

_MOST_WORDS: Final = 200


@dataclass(frozen=True, slots=True)
class RowsWithGaps:
    """Rows of the timeline, with the gaps above and below them."""

    items: tuple[TimelineItem, ...]
    above: Gap | None = None
    below: Gap | None = None


async def search(services: Services, session: SessionRow, event_filter: Filter | None) -> None:
    """Search the session for the filter's matches before a page takes its turn.

    The matches are cached, so the page reads only the events added since.
    """
    if event_filter is not None:
        await matches(services.journal, session.key, event_filter, services.prices)


async def with_matches(
    services: Services, session: SessionRow, query: PageQuery, *, head: int | None = None
) -> PageQuery:
    """Return the query with the events that its filter matches, up to the one that the page is as
    of, or to the journal's `head`."""
    if query.filter_field.filter is None:
        return query
    until = query.at.seq if query.at else head
    until = None if until is None else until + 1
    event_filter = query.filter_field.filter
    return replace(
        query,
        matches=await matches(
            services.journal, session.key, event_filter, services.prices, until=until
        ),
    )


async def filtered_rows(
    services: Services,
    session: SessionRow,
    selected_event: StoredEvent | None,
    *,
    query: PageQuery,
    after: int = 0,
    section: GapSection | None = None,
) -> RowsWithGaps:
    """Return the rows that match the filter of `query`: the last ones after the event `after`,
    those around the selected one, or those of a `section`."""
    if query.matches is None or query.filter_field.filter is None:
        raise ValueError("no filter given")
    journal, event_filter, count = services.journal, query.filter_field.filter, query.matches.count
    first, last = (section.first, section.last) if section else (after + 1, count)
    matches, selected_number = _selection(query.matches.numbers, first, last, selected_event)
    begin, end = _place(matches, section) if section else _span(matches, selected_number)
    numbers = matches[begin:end]
    above = _last_before(query.matches.numbers, numbers[0]) if numbers else None
    entries, before = await _around(journal, session.key, numbers, above)
    bounds = await journal.events.rows(session.key, (first - 1, last + 1))
    seqs = {row.number: row.seq for row in bounds}
    start = entries[numbers[0]].row.seq if begin else seqs.get(first - 1, 0)
    now = query.at.seq + 1 if query.at else END
    stop = entries[numbers[-1]].row.seq if end < len(matches) else seqs.get(last + 1, now)
    ends = [
        (run.seq, run)
        for run in await journal.runs.cut_off(session.key, start, until=stop, limit=SIZE)
        if (row := run_end(run)) and event_filter.holds(of_run_end(row))
    ]
    news: list[tuple[int, News]] = [*((each.row.seq, each) for each in entries.values()), *ends]
    news.sort(key=lambda each: each[0])
    _, changes = fold(Timeline(before), [item for _, item in news])
    look = RowContext(
        Gutter.of(services.book, services.prices, session),
        await invocations(journal, services.prices, session.key, changes.items, until=count),
        selected_number,
        await journal.notes.of(session.key, numbers[0], numbers[-1]) if numbers else {},
        only=event_filter.text,
        answers=await last_answers(
            journal, session.key, [entries[number].row for number in numbers], until=now
        ),
        parts=await later_parts(journal, session.key, changes.items),
        matches=frozenset(query.matches.numbers),
    )
    items = await asyncio.to_thread(look.items, changes.items)
    lost = await lost_reads(journal, session.key, (entries[number].row for number in numbers))
    rewinds = await effective_rewinds(
        journal, session.key, until=query.at.number if query.at else None
    )
    return RowsWithGaps(
        with_rewind_marks(with_lost_marks(items, lost), rewinds, session.key),
        *_gaps(session.key, matches, (begin, end), (first, last), query),
    )


def of_run_end(row: RunEnd) -> Facts:
    """Return the facts that a filter can use about the row of a run's end."""
    words = f"{row.text} {row.failure.message if row.failure else ''} {row.status}".lower()
    is_error = row.status == "failed"
    kind, flags = ("error", ["error"]) if is_error else ("", [])
    return Facts(values={"kind": kind, "flags": flags, "row": words})


def of_live_row(row: LiveRow) -> Facts:
    """Return the facts that a filter can use about an answer that is still arriving."""
    words = f"{row.text} {row.kind} {row.author} partial".lower()
    flags = ["partial", "streamed"]
    return Facts(values={"kind": row.kind, "agent": row.author, "flags": flags, "row": words})


def filter_bar(
    session: SessionRow, selected_event: StoredEvent | None, query: PageQuery
) -> FilterBar:
    """Return the field, with the number of matches."""
    matches, at, since, pin = query.matches, query.at, query.since, query.pin
    fields = {
        "at": at.number if at else None,
        "event": selected_event.number if selected_event and selected_event != at else None,
        "since": since.number if since else None,
        "key": pin.key if pin else None,
        "path": (path_text(pin.path) or None) if pin else None,
    }
    return FilterBar(
        action=session_url(session.key),
        words_href=filter_words_url(session.key),
        clear_href=moment_url(session.key, at.number if at else None),
        text=query.filter_field.text,
        active_text=query.filter,
        error=query.filter_field.error,
        summary=filter_summary(len(matches.numbers), matches.count) if matches else FilterSummary(),
        other_fields=tuple(
            (name, str(value)) for name, value in fields.items() if value is not None
        ),
    )


def filter_summary(shown_count: int, count: int) -> FilterSummary:
    """Return how many of `count` events are shown."""
    return FilterSummary(shown_count, count - shown_count, is_on=True)


def filter_words(counts: Counter[str]) -> FilterWords:
    """Return the terms a filter of the session can use: its values, by field, then the figures."""
    order = {name: place for place, name in enumerate(FIELDS)}
    pairs = sorted(
        counts.items(), key=lambda each: (order[each[0].partition(":")[0]], -each[1], each[0])
    )
    words = [FilterWord(visible(text), plural(count, "event")) for text, count in pairs]
    figures = [FilterWord(f"{name}>", "greater than, also <, >=, <=") for name in FIGURES]
    return FilterWords((*words[:_MOST_WORDS], *figures))


def _selection(
    numbers: Sequence[int], first: int, last: int, selected_event: StoredEvent | None
) -> tuple[list[int], int | None]:
    """Return the matches among events `first` to `last`, with the selected one, and its number."""
    selection = list(numbers[bisect_left(numbers, first) : bisect_right(numbers, last)])
    selected_number = (
        selected_event.number if selected_event and first <= selected_event.number <= last else None
    )
    if selected_number is not None and not _has(selection, selected_number):
        insort(selection, selected_number)
    return selection, selected_number


def _has(numbers: Sequence[int], number: int) -> bool:
    place = bisect_left(numbers, number)
    return place < len(numbers) and numbers[place] == number


def _span(numbers: Sequence[int], selected_number: int | None) -> tuple[int, int]:
    """Return the range of matches to show: the last ones, or those around the selected one."""
    end = len(numbers)
    place = end if selected_number is None else bisect_left(numbers, selected_number)
    if place >= end - SIZE:
        return max(0, end - SIZE), end
    return max(0, place - SIZE // 2), min(end, place + SIZE // 2)


def _place(matches: Sequence[int], section: GapSection) -> tuple[int, int]:
    """Return the range of a gap's matches that the reader has scrolled to."""
    begin = min(section.skip, max(len(matches) - 1, 0))
    return begin, min(begin + section.limit, len(matches))


def _gaps(
    session: int,
    matches: Sequence[int],
    place: tuple[int, int],
    numbers: tuple[int, int],
    query: PageQuery,
) -> tuple[Gap | None, Gap | None]:
    """Return the gaps above and below the matches at `place`, within the events `numbers`."""
    (begin, end), (first, last) = place, numbers
    at = query.at.number if query.at else None
    above = matches[begin] - 1 if begin < len(matches) else last
    below = matches[end - 1] + 1 if end else first
    return (
        gap(session, first, above, begin, at=at, only=query.filter),
        gap(session, below, last, len(matches) - end, at=at, only=query.filter),
    )


def _last_before(numbers: Sequence[int], number: int) -> int | None:
    place = bisect_left(numbers, number)
    return numbers[place - 1] if place else None


async def _around(
    journal: Journal, session: int, numbers: Sequence[int], above: int | None
) -> tuple[dict[int, Entry], StoredEvent | None]:
    """Return the events to show and the ones before them, from which their durations are counted,
    by number; and the match above them, which may be in the same invocation."""
    matches = frozenset(numbers)
    with_neighbors = matches | {number - 1 for number in numbers} | ({above} if above else set())
    rows = {row.number: row for row in await journal.events.rows(session, with_neighbors)}
    before = rows.pop(above, None) if above else None
    return {number: Entry(row, number in matches) for number, row in sorted(rows.items())}, before
