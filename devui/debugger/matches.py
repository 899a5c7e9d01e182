"""Which events of a session a filter lets through.

To know them all, all are looked at, by their rows; bodies are read of those alone whose rows do not
decide. The ones next to an event are looked for from there on, and no further than needed.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from devui.debugger.filters import MARKS, Facts, Filter
from devui.debugger.prices import Prices
from devui.debugger.summary import Summary
from devui.debugger.worktime import seconds_of_work
from devui.store.journal import Journal
from devui.store.rows import EventRow, NoteRow

_BODIES: Final = 100
"""Bodies that are read at a time."""
_NEAR: Final = 100
"""Rows that are read at a time to find the next match."""


@dataclass(frozen=True, slots=True)
class Matches:
    """What was found, in order."""

    rows: tuple[EventRow, ...]
    """Every event that was looked at."""
    numbers: tuple[int, ...]
    """Those that the filter lets through."""


async def matches(
    journal: Journal, session: int, wanted: Filter, prices: Prices, *, until: int | None = None
) -> Matches:
    """Look through the session's events, below the journal's `until` if that is given."""
    rows = await journal.events.since(session, 0)
    rows = rows if until is None else [row for row in rows if row.seq < until]
    notes = await journal.notes.of(session)
    answers = await asyncio.to_thread(_by_rows, rows, notes, wanted, prices)
    open_ones = [number for number, (_, answer) in answers.items() if answer is None]
    if open_ones and wanted.phrases:
        holding = await _holding(journal, session, wanted)
        bare = {n: replace(answers[n][0], data="") for n in open_ones if n not in holding}
        answers |= {n: (facts, wanted.holds(facts)) for n, facts in bare.items() if facts.all_keys}
        open_ones = [n for n in open_ones if n in holding or not answers[n][0].all_keys]
    await _by_bodies(journal, session, answers, open_ones, wanted)
    return Matches(tuple(rows), tuple(number for number, (_, yes) in answers.items() if yes))


async def beside(
    journal: Journal,
    session: int,
    wanted: Filter,
    prices: Prices,
    *,
    number: int | None,
    until: int | None = None,
) -> tuple[int | None, int | None]:
    """The numbers of the matches before and after an event, or before the end without one; none
    is behind the event `until`."""
    notes = await journal.notes.of(session)

    async def among(rows: Sequence[EventRow], previous: EventRow | None) -> list[int]:
        answers = _by_rows(rows, notes, wanted, prices, before=previous)
        undecided = [each for each, (_, answer) in answers.items() if answer is None]
        await _by_bodies(journal, session, answers, undecided, wanted)
        return [each for each, (_, yes) in answers.items() if yes]

    page = journal.events.page
    here = await journal.events.body(session, number) if number else None
    earlier: list[int] = []
    rows = await page(session, before=here[0].seq if here else None, limit=_NEAR + 1)
    while rows and not earlier:
        previous = rows[0] if len(rows) > _NEAR else None
        earlier = await among(rows[1:] if previous else rows, previous)
        rows = await page(session, before=rows[1].seq, limit=_NEAR + 1) if previous else []
    later: list[int] = []
    last = here[0] if here else None
    while last is not None and not later:
        rows = await page(session, after=last.seq, limit=_NEAR)
        rows = [row for row in rows if until is None or row.number <= until]
        later = await among(rows, last)
        last = rows[-1] if rows else None
    return earlier[-1] if earlier else None, later[0] if later else None


async def words(journal: Journal, session: int) -> Counter[str]:
    """The terms that a filter of this session may have, and how many events each lets through."""
    rows = await journal.events.since(session, 0)
    notes = await journal.notes.of(session)
    return await asyncio.to_thread(_words, rows, notes)


def _by_rows(
    rows: Sequence[EventRow],
    notes: Mapping[int, NoteRow],
    wanted: Filter,
    prices: Prices,
    *,
    before: EventRow | None = None,
) -> dict[int, tuple[Facts, bool | None]]:
    """Of rows that follow each other, and on `before`."""
    answers: dict[int, tuple[Facts, bool | None]] = {}
    for row in rows:
        summary = Summary.from_json(row.summary)
        facts = Facts.of(
            row,
            summary,
            elapsed=seconds_of_work(row, before),
            cost=prices.cost(summary.usage) if summary.usage else None,
            note=notes.get(row.number),
        )
        answers[row.number] = facts, wanted.holds(facts)
        before = row
    return answers


async def _by_bodies(
    journal: Journal,
    session: int,
    answers: dict[int, tuple[Facts, bool | None]],
    numbers: Sequence[int],
    wanted: Filter,
) -> None:
    """Put the answers in that only bodies give."""
    for first in range(0, len(numbers), _BODIES):
        some = numbers[first : first + _BODIES]
        for row, data in await journal.events.bodies(session, some):
            facts = replace(answers[row.number][0], data=data)
            answers[row.number] = facts, wanted.holds(facts)
        await asyncio.sleep(0)


async def _holding(journal: Journal, session: int, wanted: Filter) -> set[int]:
    """The events with one of the phrases somewhere in their JSON."""
    found: set[int] = set()
    for phrase in wanted.phrases:
        written = json.dumps(phrase, ensure_ascii=False)[1:-1]
        found |= await journal.events.holding(session, written)
    return found


def _words(rows: Sequence[EventRow], notes: Mapping[int, NoteRow]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for row in rows:
        facts = Facts.of(row, Summary.from_json(row.summary), note=notes.get(row.number))
        named = {("kind", facts.kind), *(("is", mark) for mark in facts.marks if mark in MARKS)}
        named |= {("author", name) for name in facts.names}
        named |= {("tool", name) for name in facts.tools} | {("key", key) for key in facts.keys}
        counted.update(f"{field}:{_quoted(name)}" for field, name in named if name)
    return counted


def _quoted(name: str) -> str:
    plain = not any(each.isspace() or each in ',"\\' for each in name)
    return name if plain else json.dumps(name, ensure_ascii=False)
