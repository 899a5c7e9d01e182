"""The timeline with a filter: the rows that it lets through, and the field that it is typed in.

What is filtered is the timeline alone. An event that is selected is shown in any case, or a link
to it would lead nowhere; its row says that it is not of the filter.
"""

import asyncio
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from devui.debugger.filters import FIELDS, FIGURES, Facts, Filter
from devui.debugger.matches import matches
from devui.debugger.paths import path_text
from devui.debugger.rewinds import taken_back
from devui.debugger.summary import Summary
from devui.store.journal import Journal
from devui.store.rows import EventRow as StoredEvent
from devui.store.rows import NoteRow, SessionRow
from devui.web.links import filter_words_url, moment_url, older_url, session_url
from devui.web.parts import every as parts
from devui.web.presenters.breaking import Asked
from devui.web.presenters.lostreads import lost_reads, marked
from devui.web.presenters.margins import Margins
from devui.web.presenters.rewound import taken_marked
from devui.web.presenters.rows import event_row, invocation_header
from devui.web.presenters.runs import run_end
from devui.web.presenters.window import SIZE
from devui.web.services import Services
from devui.web.text.figures import plural
from devui.web.text.visible import visible

_MOST_WORDS: Final = 200
_END: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Shown:
    """The rows of a filtered timeline."""

    items: tuple[parts.TimelineItem, ...]
    earlier: parts.Earlier | None
    below: Sequence[int] = ()
    """The numbers of those that the filter lets through after them."""

    @property
    def tail(self) -> bool:
        """Whether they end with the newest event that the filter lets through."""
        return not self.below


async def sought(
    found: Services, session: SessionRow, asked: Asked, *, head: int | None = None
) -> Asked:
    """What was asked, with the events that it finds: up to the one that the page is as of, or to
    the journal's `head`."""
    if asked.typed.filter is None:
        return asked
    until = asked.at.seq if asked.at else head
    until = None if until is None else until + 1
    wanted = asked.typed.filter
    return replace(
        asked,
        matches=await matches(found.journal, session.key, wanted, found.prices, until=until),
    )


async def shown(
    found: Services,
    session: SessionRow,
    selected: StoredEvent | None,
    *,
    asked: Asked,
    before: int | None = None,
) -> Shown:
    """The rows that the filter of `asked` lets through: the last ones, those below the journal's
    `before`, or those around the selected one."""
    if asked.matches is None or asked.typed.filter is None:
        raise ValueError("nothing was asked for")
    journal, wanted = found.journal, asked.typed.filter
    count = await _number_below(journal, session.key, before, asked.matches.count)
    kept, chosen = _kept(asked.matches.numbers, count, selected)
    first, end = _span(kept, chosen)
    below, left_out, kept = kept[end:], first, kept[first:end]
    wanted_rows = {near for number in kept for near in (number - 1, number)} | {count}
    rows = {row.number: row for row in await journal.events.rows(session.key, wanted_rows)}
    invocations = {rows[number].invocation_id for number in kept}
    last = rows[count].seq if count else 0
    groups = await _groups(journal, session.key, invocations, last + 1)
    notes = await journal.notes.of(session.key, kept[0], kept[-1]) if kept else {}
    margins = Margins.of(found, session)
    items = await asyncio.to_thread(_items, rows, kept, groups, margins, chosen=chosen, notes=notes)
    lost = await lost_reads(journal, session.key, (rows[number] for number in kept))
    start = rows[kept[0]].seq if left_out else 0
    now = asked.at.seq + 1 if asked.at else _END
    stop = (before or now) if not below else rows[kept[-1]].seq
    for run in await journal.runs.cut_off(session.key, start, until=stop, limit=SIZE):
        row = run_end(run)
        if row and wanted.holds(of_run_end(row)):
            items.append((run.seq, 0, row))
    items.sort(key=lambda each: each[:2])
    taken = await taken_back(journal, session.key, until=asked.at.number if asked.at else None)
    told = taken_marked(marked((item for _, _, item in items), lost), taken, session.key)
    return Shown(
        tuple(linked(_marked(item, asked.matches.numbers), session.key, wanted) for item in told),
        _earlier(rows[kept[0]] if kept else None, asked, above=left_out, wanted=wanted),
        below,
    )


def of_run_end(row: parts.RunEnd) -> Facts:
    """What a filter may ask of the row that a run ends with."""
    marks = frozenset({"error"} if row.status == "failed" else ())
    words = f"{row.text} {row.failure.message if row.failure else ''} {row.status}".lower()
    return Facts(kind="error" if marks else "", marks=marks, words=words, data="")


def of_live_row(row: parts.LiveRow) -> Facts:
    """What a filter may ask of an answer that is still arriving."""
    words = f"{row.text} {row.kind} {row.author} partial".lower()
    marks = frozenset({"partial", "streamed"})
    return Facts(row.kind, (row.author,), marks=marks, words=words, data="")


def filter_bar(session: SessionRow, selected: StoredEvent | None, asked: Asked) -> parts.FilterBar:
    """The field, with what it found."""
    found, at, since, pin = asked.matches, asked.at, asked.since, asked.pin
    kept = {
        "at": at.number if at else None,
        "event": selected.number if selected and selected != at else None,
        "since": since.number if since else None,
        "key": pin.key if pin else None,
        "path": (path_text(pin.path) or None) if pin else None,
    }
    return parts.FilterBar(
        action=session_url(session.key),
        words_href=filter_words_url(session.key),
        clear_href=moment_url(session.key, at.number if at else None),
        text=asked.typed.text,
        applied=asked.filter,
        error=asked.typed.error,
        said=filter_said(len(found.numbers), found.count) if found else parts.FilterSaid(),
        kept=tuple((name, str(value)) for name, value in kept.items() if value is not None),
    )


def filter_said(shown: int, count: int) -> parts.FilterSaid:
    """How many of so many events are shown."""
    return parts.FilterSaid(shown, count - shown, is_on=True)


def filter_words(counted: Counter[str]) -> parts.FilterWords:
    """What may be asked of a session: what it has, by field, then the fields themselves."""
    order = {name: place for place, name in enumerate(FIELDS)}
    known = sorted(
        counted.items(), key=lambda each: (order[each[0].partition(":")[0]], -each[1], each[0])
    )
    words = [parts.FilterWord(visible(text), plural(count, "event")) for text, count in known]
    figures = [parts.FilterWord(f"{name}>", "greater than, also <, >=, <=") for name in FIGURES]
    return parts.FilterWords((*words[:_MOST_WORDS], *figures))


async def _number_below(journal: Journal, session: int, before: int | None, count: int) -> int:
    """The number of the last event below the journal's `before`; `count` if that is not given."""
    if before is None:
        return count
    rows = await journal.events.page(session, before=before, limit=1)
    return min(rows[0].number, count) if rows else 0


def _kept(
    numbers: Sequence[int], count: int, selected: StoredEvent | None
) -> tuple[list[int], int | None]:
    """The matches among the first `count` events and the selected one, and which that is."""
    kept = list(numbers[: bisect_right(numbers, count)])
    chosen = selected.number if selected and selected.number <= count else None
    if chosen is not None and not _has(kept, chosen):
        insort(kept, chosen)
    return kept, chosen


def _has(numbers: Sequence[int], number: int) -> bool:
    place = bisect_left(numbers, number)
    return place < len(numbers) and numbers[place] == number


def _span(kept: Sequence[int], chosen: int | None) -> tuple[int, int]:
    """Which of them a page shows: the last ones, if the chosen one is among these."""
    end = len(kept)
    place = end if chosen is None else bisect_left(kept, chosen)
    if place >= end - SIZE:
        return max(0, end - SIZE), end
    return max(0, place - SIZE // 2), min(end, place + SIZE // 2)


_Group = tuple[list[tuple[StoredEvent, Summary]], bool]
"""Events of an invocation that follow each other, and whether it began before them."""


async def _groups(
    journal: Journal, session: int, invocations: Iterable[str], until: int
) -> dict[int, _Group]:
    """What the headers of the invocations tell of, by the number of each of its events.

    Of a long invocation these are the last ones below the journal's `until`, as on a page without
    a filter.
    """
    groups: dict[int, _Group] = {}
    for name in invocations:
        rows = await journal.events.rows_of_invocation(session, name, before=until, limit=SIZE + 1)
        events = [(row, Summary.from_json(row.summary)) for row in rows[-SIZE:]]
        cut = len(rows) > SIZE
        for _, stretch in groupby(enumerate(events), key=lambda each: each[1][0].number - each[0]):
            group = [event for _, event in stretch]
            groups |= dict.fromkeys((row.number for row, _ in group), (group, cut))
            cut = False
    return groups


def _items(
    rows: Mapping[int, StoredEvent],
    kept: Sequence[int],
    groups: Mapping[int, _Group],
    margins: Margins,
    *,
    chosen: int | None,
    notes: Mapping[int, NoteRow],
) -> list[tuple[int, int, parts.TimelineItem]]:
    """The rows with their places, each invocation's below its header."""
    items: list[tuple[int, int, parts.TimelineItem]] = []
    for _, members in groupby(kept, key=lambda n: (rows[n].invocation_id, id(groups.get(n)))):
        numbers = list(members)
        here = [(rows[n], Summary.from_json(rows[n].summary)) for n in numbers]
        events, continued = groups.get(numbers[0], (here, True))
        header = invocation_header(events, margins, continued=continued)
        items.append((here[0][0].seq, 1, header))
        for row, summary in here:
            item = event_row(
                row,
                summary,
                rows.get(row.number - 1),
                margins=margins,
                selected=row.number == chosen,
                note=notes.get(row.number),
            )
            items.append((row.seq, 2, item))
    return items


def linked(item: parts.TimelineItem, session: int, wanted: Filter) -> parts.TimelineItem:
    """A row whose link keeps the filter."""
    if not isinstance(item, parts.EventRow):
        return item
    return replace(item, href=session_url(session, event=item.number, only=wanted.text))


def _marked(item: parts.TimelineItem, matched: Sequence[int]) -> parts.TimelineItem:
    if isinstance(item, parts.EventRow) and not _has(matched, item.number):
        flag = parts.Flag("astray", "not in the filter", "shown because it is selected")
        return replace(item, flags=(flag, *item.flags))
    return item


def _earlier(
    first: StoredEvent | None, asked: Asked, *, above: int, wanted: Filter
) -> parts.Earlier | None:
    if not above or first is None:
        return None
    return parts.Earlier(
        href=older_url(
            first.session,
            first.seq,
            only=wanted.text,
            at=asked.at.number if asked.at else None,
        ),
        page_href=session_url(first.session, event=first.number, only=wanted.text),
        count=above,
    )
