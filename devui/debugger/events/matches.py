"""Finds the events of a session that match a filter.

To find all, every event is checked once, by its row. If a row lists only some of its event's state
keys, the journal's index of writers gives the rest. Only the bodies of events that are still
undecided are read. Results are cached, and extended when new events arrive. To find the matches
next to an event, the search starts there and goes no further than needed.
"""

import asyncio
import json
import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

from devui.debugger.events.prices import Prices
from devui.debugger.predicates.facts import Facts
from devui.debugger.predicates.filters import Filter, quoted, shared_beginnings
from devui.store.journal import Journal
from devui.store.rows import EventRow, NoteRow
from devui.store.runs.work_time import duration_of
from devui.store.summaries import Summary

_BODIES: Final = 100
"""How many bodies are read at a time."""
_NEAR: Final = 100
"""How many rows are read at a time to find the next match."""
_BATCH: Final = 1000
"""How many rows are read at a time to find all matches."""
_CACHE_SIZE: Final = 32
"""How many searches are cached."""
_NO_NOTES: Final[Mapping[int, NoteRow]] = {}
_BEYOND_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
"""Text that the journal may store in either case, and literally or escaped (`\\u00fc`)."""

_Answers = dict[int, tuple[Facts, bool | None]]
"""For each event number, its facts and whether it matches; None if only the body can tell."""


@dataclass(frozen=True, slots=True)
class Matches:
    """The result of a search."""

    count: int
    """How many events were checked."""
    numbers: Sequence[int]
    """The numbers of the matching events, in order."""


class _Search:
    """The matches of one filter in one session, as far as it has been searched.

    Events don't change, so a match holds for good. Notes on them may change, and are left out.
    """

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.seqs = array("q")
        """The seqs of all events checked so far."""
        self.last: EventRow | None = None
        self.numbers = array("q")

    def grow(self, rows: Sequence[EventRow], answers: _Answers) -> None:
        self.seqs.extend(row.seq for row in rows)
        self.numbers.extend(number for number, (_, yes) in answers.items() if yes)
        self.last = rows[-1]


_Searches = OrderedDict[tuple[int, str, Prices], _Search]
_SEARCHES: Final[WeakKeyDictionary[Journal, _Searches]] = WeakKeyDictionary()


async def matches(
    journal: Journal, session: int, condition: Filter, prices: Prices, *, until: int | None = None
) -> Matches:
    """Search the session's events, or only those with a seq below `until`."""
    search = _search(journal, session, condition, prices)
    async with search.lock:
        await _look_on(journal, session, condition, prices, search)
    count = len(search.seqs) if until is None else bisect_left(search.seqs, until)
    numbers = search.numbers[: bisect_right(search.numbers, count)]
    return Matches(
        count,
        await _numbers_with_notes(journal, session, condition, prices, Matches(count, numbers)),
    )


def _search(journal: Journal, session: int, condition: Filter, prices: Prices) -> _Search:
    searches = _SEARCHES.setdefault(journal, OrderedDict())
    name = session, condition.text, prices
    search = searches.setdefault(name, _Search())
    searches.move_to_end(name)
    if len(searches) > _CACHE_SIZE:
        searches.popitem(last=False)
    return search


async def _look_on(
    journal: Journal, session: int, condition: Filter, prices: Prices, search: _Search
) -> None:
    """Search the events added since the last search."""
    while rows := await journal.events.page(
        session, after=search.last.seq if search.last else 0, limit=_BATCH
    ):
        answers = await asyncio.to_thread(
            _by_rows, rows, _NO_NOTES, condition, prices, before=search.last
        )
        await _decide(journal, session, condition, answers)
        search.grow(rows, answers)


async def _decide(journal: Journal, session: int, condition: Filter, answers: _Answers) -> None:
    """Fill in the answers that rows can't give."""
    undecided = [number for number, (_, answer) in answers.items() if answer is None]
    undecided = await _by_keys(journal, session, answers, undecided, condition)
    if undecided and condition.phrases:
        holding = await _holding(journal, session, condition, undecided)
        for number in set(undecided) - holding:
            facts = answers[number][0]
            facts.values["said"] = ""
            answers[number] = facts, condition.holds(facts)
        undecided = [number for number in undecided if answers[number][1] is None]
    await _by_bodies(journal, session, answers, undecided, condition)


async def _numbers_with_notes(
    journal: Journal, session: int, condition: Filter, prices: Prices, matches: Matches
) -> Sequence[int]:
    """Return the matches, taking the current notes into account."""
    notes = await journal.notes.of(session, 1, matches.count)
    if not notes:
        return matches.numbers
    beside = {near for number in notes for near in (number - 1, number)}
    rows = {row.number: row for row in await journal.events.rows(session, beside)}
    answers: _Answers = {}
    for number in notes:
        before = rows.get(number - 1)
        answers |= _by_rows([rows[number]], notes, condition, prices, before=before)
    undecided = [number for number, (_, answer) in answers.items() if answer is None]
    await _by_bodies(journal, session, answers, undecided, condition)
    others = (number for number in matches.numbers if number not in answers)
    return sorted([*others, *(number for number, (_, yes) in answers.items() if yes)])


async def beside(
    journal: Journal,
    session: int,
    condition: Filter,
    prices: Prices,
    *,
    number: int | None,
    until: int | None = None,
) -> tuple[int | None, int | None]:
    """Return the numbers of the nearest matches before and after an event, up to the event `until`.

    Without a `number`, return the last match of the session, and None.
    """
    notes = await journal.notes.of(session)

    async def among(rows: Sequence[EventRow], previous: EventRow | None) -> list[int]:
        answers = _by_rows(rows, notes, condition, prices, before=previous)
        undecided = [each for each, (_, answer) in answers.items() if answer is None]
        await _by_bodies(journal, session, answers, undecided, condition)
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
    """Return the terms that a filter of this session can use, with how many events match each."""
    rows = await journal.events.since(session, 0)
    notes = await journal.notes.of(session)
    return await asyncio.to_thread(_words, rows, notes)


def _by_rows(
    rows: Sequence[EventRow],
    notes: Mapping[int, NoteRow],
    condition: Filter,
    prices: Prices,
    *,
    before: EventRow | None = None,
) -> _Answers:
    """Apply the filter to consecutive rows; `before` is the row that precedes them."""
    answers: _Answers = {}
    for row in rows:
        summary = row.summary
        facts = Facts.of(
            row,
            summary,
            seconds=duration_of(row, before),
            prices=prices,
            note=notes.get(row.number),
        )
        answers[row.number] = facts, condition.holds(facts)
        before = row
    return answers


async def _by_keys(
    journal: Journal,
    session: int,
    answers: _Answers,
    numbers: Sequence[int],
    condition: Filter,
) -> list[int]:
    """Complete the keys of events whose rows list only some, and apply the filter again.

    Returns the numbers of the events that are still undecided.
    """
    some = [number for number in numbers if _has_more_keys(answers[number][0].summary)]
    if some:
        writers, first, last = journal.histories.writers, min(some), max(some)
        keys_by_number = await writers(session, condition.means_key, first=first, last=last)
        for number in some:
            facts = answers[number][0]
            names = facts.summary.state_keys if facts.summary else ()
            facts.values["keys"] = [*dict.fromkeys((*names, *keys_by_number.get(number, ())))]
            answers[number] = facts, condition.holds(facts)
    return [number for number in numbers if answers[number][1] is None]


async def _by_bodies(
    journal: Journal,
    session: int,
    answers: _Answers,
    numbers: Sequence[int],
    condition: Filter,
) -> None:
    """Fill in the answers that only bodies can give."""
    numbers = await _by_keys(journal, session, answers, numbers, condition)
    for first in range(0, len(numbers), _BODIES):
        some = numbers[first : first + _BODIES]
        for row, event in await journal.events.bodies(session, some):
            facts = answers[row.number][0].reading(event.text)
            answers[row.number] = facts, condition.holds(facts)
        await asyncio.sleep(0)


async def _holding(
    journal: Journal, session: int, condition: Filter, numbers: Sequence[int]
) -> set[int]:
    """Return which events between the first and last of these have a phrase in their JSON."""
    hits: set[int] = set()
    for phrase in condition.phrases:
        needle = json.dumps(max(_BEYOND_ASCII.split(phrase), key=len))[1:-1]
        hits |= await journal.events.holding(session, needle, first=numbers[0], last=numbers[-1])
    return hits


def _words(rows: Sequence[EventRow], notes: Mapping[int, NoteRow]) -> Counter[str]:
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        summary = row.summary
        facts = Facts.of(row, summary, note=notes.get(row.number))
        values = {
            "kind": (summary.kind,),
            "is": facts.get("flags"),
            "author": (row.author, facts.get("node")),
            "tool": facts.get("tools"),
            "key": summary.state_keys,
        }
        counts.update({(field, name) for field, names in values.items() for name in names if name})
    names_by_field: dict[str, list[str]] = {}
    for field, name in counts:
        names_by_field.setdefault(field, []).append(name)
    shared = {field: shared_beginnings(names) for field, names in names_by_field.items()}
    if any(_has_more_keys(row.summary) for row in rows):  # which may begin with any of the others
        shared["key"] = {name.lower() for name in names_by_field.get("key", ())}
    terms = {f"{field}:{quoted(name, shared[field])}": n for (field, name), n in counts.items()}
    return Counter(terms)


def _has_more_keys(summary: Summary | None) -> bool:
    """Whether the row lists only some of the keys that the event writes."""
    return summary is not None and summary.state_count > len(summary.state_keys)
