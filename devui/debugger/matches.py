"""Which events of a session a filter lets through.

All of them are looked at, by their rows; bodies are read of those alone whose rows do not decide.
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
from devui.store.journal import Journal
from devui.store.rows import EventRow, NoteRow

_BODIES: Final = 100
"""Bodies that are read at a time."""


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
    for first in range(0, len(open_ones), _BODIES):
        some = open_ones[first : first + _BODIES]
        for row, data in await journal.events.bodies(session, some):
            facts = replace(answers[row.number][0], data=data)
            answers[row.number] = facts, wanted.holds(facts)
        await asyncio.sleep(0)
    return Matches(tuple(rows), tuple(number for number, (_, yes) in answers.items() if yes))


async def words(journal: Journal, session: int) -> Counter[str]:
    """The terms that a filter of this session may have, and how many events each lets through."""
    rows = await journal.events.since(session, 0)
    notes = await journal.notes.of(session)
    return await asyncio.to_thread(_words, rows, notes)


def _by_rows(
    rows: Sequence[EventRow], notes: Mapping[int, NoteRow], wanted: Filter, prices: Prices
) -> dict[int, tuple[Facts, bool | None]]:
    answers: dict[int, tuple[Facts, bool | None]] = {}
    for before, row in zip((None, *rows), rows, strict=False):
        summary = Summary.from_json(row.summary)
        facts = Facts.of(
            row,
            summary,
            elapsed=row.timestamp - before.timestamp if before else None,
            cost=prices.cost(summary.usage) if summary.usage else None,
            note=notes.get(row.number),
        )
        answers[row.number] = facts, wanted.holds(facts)
    return answers


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
