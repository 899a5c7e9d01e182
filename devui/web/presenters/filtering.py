"""The timeline with a filter: the rows that it lets through, and the field that it is typed in.

What is filtered is the timeline alone. An event that is selected is shown in any case, or a link
to it would lead nowhere; its row says that it is not of the filter.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from devui.debugger.filters import FIELDS, FIGURES, Facts, Filter
from devui.debugger.matches import matches
from devui.debugger.paths import path_text
from devui.debugger.summary import Summary
from devui.store.rows import EventRow as StoredEvent
from devui.store.rows import NoteRow, SessionRow
from devui.web.links import filter_words_url, moment_url, older_url, session_url
from devui.web.parts import every as parts
from devui.web.presenters.breaking import Asked
from devui.web.presenters.margins import Margins
from devui.web.presenters.rows import timeline_items
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
    tail: bool
    """Whether they end with the newest event that the filter lets through."""


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
    wanted, matched = asked.typed.filter, asked.matches.numbers
    rows = [row for row in asked.matches.rows if before is None or row.seq < before]
    numbers = {number for number in matched if number <= len(rows)}
    chosen = selected.number if selected and selected.number <= len(rows) else None
    kept = sorted(numbers | ({chosen} if chosen else set()))
    first, end = _span(kept, chosen)
    tail, kept = end == len(kept), kept[first:end]
    notes = await found.journal.notes.of(session.key)
    margins = Margins.of(found, session)
    items = await asyncio.to_thread(_items, rows, kept, margins, chosen=chosen, notes=notes)
    start = rows[kept[0] - 1].seq if first else 0
    stop = (before if tail else rows[kept[-1] - 1].seq) or _END
    for run in await found.journal.runs.since(session.key, start):
        row = run_end(run)
        if row and run.seq < stop and wanted.holds(of_run_end(row)):
            items.append((run.seq, 0, row))
    items.sort(key=lambda each: each[:2])
    return Shown(
        tuple(linked(_marked(item, numbers), session.key, wanted) for _, _, item in items),
        _earlier(session.key, rows, kept, above=first, wanted=wanted),
        tail,
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
        said=filter_said(len(found.numbers), len(found.rows)) if found else parts.FilterSaid(),
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


def _span(kept: Sequence[int], chosen: int | None) -> tuple[int, int]:
    """Which of them a page shows: the last ones, if the chosen one is among these."""
    end = len(kept)
    if chosen is None or chosen not in kept or kept.index(chosen) >= end - SIZE:
        return max(0, end - SIZE), end
    middle = kept.index(chosen)
    return max(0, middle - SIZE // 2), min(end, middle + SIZE // 2)


def _items(
    rows: Sequence[StoredEvent],
    kept: Sequence[int],
    margins: Margins,
    *,
    chosen: int | None,
    notes: Mapping[int, NoteRow],
) -> list[tuple[int, int, parts.TimelineItem]]:
    """The rows with their places; invocations none of which is kept are not even read."""
    items: list[tuple[int, int, parts.TimelineItem]] = []
    wanted = frozenset(kept)
    before: StoredEvent | None = None
    for _, members in groupby(rows, key=lambda row: row.invocation_id):
        group = list(members)
        here = [row for row in group if row.number in wanted]
        if here:
            events = [(row, Summary.from_json(row.summary)) for row in group]
            header, *every = timeline_items(
                events, margins, previous=before, selected=chosen, notes=notes
            )
            items.append((here[0].seq, 1, header))
            shown = zip(group, every, strict=True)
            items += [(row.seq, 2, item) for row, item in shown if row.number in wanted]
        before = group[-1]
    return items


def linked(item: parts.TimelineItem, session: int, wanted: Filter) -> parts.TimelineItem:
    """A row whose link keeps the filter."""
    if not isinstance(item, parts.EventRow):
        return item
    return replace(item, href=session_url(session, event=item.number, only=wanted.text))


def _marked(item: parts.TimelineItem, matched: set[int]) -> parts.TimelineItem:
    if isinstance(item, parts.EventRow) and item.number not in matched:
        flag = parts.Flag("astray", "not in the filter", "shown because it is selected")
        return replace(item, flags=(flag, *item.flags))
    return item


def _earlier(
    session: int, rows: Sequence[StoredEvent], kept: Sequence[int], *, above: int, wanted: Filter
) -> parts.Earlier | None:
    if not above or not kept:
        return None
    first = rows[kept[0] - 1]
    return parts.Earlier(
        href=older_url(session, first.seq, only=wanted.text),
        page_href=session_url(session, event=first.number, only=wanted.text),
        count=above,
    )
