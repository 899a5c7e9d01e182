"""Finds the events in all sessions that match a filter, newest first, grouped by session."""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from devui.debugger.events.prices import Prices
from devui.debugger.predicates.facts import Facts
from devui.debugger.predicates.filters import Filter
from devui.debugger.search.query import asks_for_notes, index_query
from devui.store.journal import Journal
from devui.store.rows import EventRow, NoteRow, SessionRow
from devui.store.runs.work_time import duration_of
from devui.store.search import Candidate, SearchScope
from devui.wire.events import Event

SESSIONS: Final = 20
"""How many sessions a page of results has."""
PER_SESSION: Final = 3
"""How many events are shown of each session."""
NEWEST: Final = 2**63 - 1
_BATCH: Final = 200
_MOST: Final = 4000
"""How many events are checked for one page, so that it takes a fraction of a second."""


@dataclass(frozen=True, slots=True)
class Hit:
    """An event that matches."""

    row: EventRow
    event: Event


@dataclass(slots=True)
class SessionHits:
    """The newest matches in one session."""

    session: SessionRow
    hits: list[Hit] = field(default_factory=list)
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class SearchResults:
    """One page of results."""

    sessions: Sequence[SessionHits]
    before: int | None
    """The seq below which the next page starts; None if this is the last page."""


async def find(
    journal: Journal,
    event_filter: Filter,
    prices: Prices,
    *,
    before: int = NEWEST,
    session: int | None = None,
    among: Collection[int] | None = None,
    most: int = PER_SESSION,
) -> SearchResults:
    """Search for events below a seq, in all sessions, in one, or in those `among` these keys.

    Returns up to `most` events per session. In a search of all sessions, an event that a fork has
    copied matches only in its original session, unless the filter asks for notes: a fork has its
    own.
    """
    query, with_notes = index_query(event_filter, session), asks_for_notes(event_filter)
    rows: dict[int, list[EventRow]] = {}
    last, scanned, page_end = before, 0, None
    while scanned < _MOST and page_end is None:
        full = [key for key, session_rows in rows.items() if len(session_rows) > most]
        batch = await _candidates(
            journal,
            query,
            with_notes=with_notes,
            scope=SearchScope(last, full, among, copies=not (session is None and among is None)),
        )
        quotas = {each.session: most + 1 - len(rows.get(each.session, ())) for each in batch}
        first, others = _split(batch, quotas)
        matching = await _matching(journal, event_filter, prices, first)
        enough = Counter(row.session for row in matching.values())
        others = [each for each in others if enough[each.session] < quotas[each.session]]
        if others:
            matching |= await _matching(journal, event_filter, prices, others)
        for candidate in batch:
            if (
                candidate.session not in rows
                and len(rows) == SESSIONS
                and candidate.seq in matching
            ):
                page_end = candidate.seq + 1
                break
            if candidate.seq in matching:
                rows.setdefault(candidate.session, []).append(matching[candidate.seq])
            last = candidate.seq
        scanned += len(first) + len(others)
        if len(batch) < _BATCH:
            break
    else:
        page_end = page_end or last
    more = {key for key, session_rows in rows.items() if len(session_rows) > most}
    sessions = await journal.search.sessions(rows)
    events = await journal.search.bodies(
        row.seq for session_rows in rows.values() for row in session_rows[:most]
    )
    results = [
        SessionHits(
            sessions[key],
            [Hit(row, events[row.seq]) for row in session_rows[:most] if row.seq in events],
            has_more=key in more,
        )
        for key, session_rows in rows.items()
        if key in sessions
    ]
    return SearchResults(results, page_end)


def _split(
    batch: Sequence[Candidate], quotas: Mapping[int, int]
) -> tuple[list[Candidate], list[Candidate]]:
    """Split off as many candidates per session as are needed if all of them match."""
    first: list[Candidate] = []
    others: list[Candidate] = []
    counts = Counter[int]()
    for each in batch:
        counts[each.session] += 1
        (first if counts[each.session] <= quotas[each.session] else others).append(each)
    return first, others


async def _candidates(
    journal: Journal, query: str, *, with_notes: bool, scope: SearchScope
) -> list[Candidate]:
    if with_notes:
        return await journal.search.with_notes(scope, _BATCH)
    if query:
        return await journal.search.matching(query, scope, _BATCH)
    return await journal.search.all(scope, _BATCH)


async def _matching(
    journal: Journal, event_filter: Filter, prices: Prices, candidates: Iterable[Candidate]
) -> dict[int, EventRow]:
    """Return the rows of the candidates that match, by seq."""
    search, seqs = journal.search, [each.seq for each in candidates]
    rows, previous = await search.rows(seqs), await search.previous(seqs)
    notes = await search.notes(seqs)
    answers = await asyncio.to_thread(_by_rows, rows, previous, notes, event_filter, prices)
    undecided = [seq for seq, (_, answer) in answers.items() if answer is None]
    bodies = await search.bodies(undecided) if undecided else {}
    matches = await asyncio.to_thread(_by_bodies, answers, bodies, event_filter)
    return {seq: rows[seq] for seq in matches}


_Answers = dict[int, tuple[Facts, bool | None]]


def _by_rows(
    rows: Mapping[int, EventRow],
    previous: Mapping[int, EventRow],
    notes: Mapping[int, NoteRow],
    event_filter: Filter,
    prices: Prices,
) -> _Answers:
    answers: _Answers = {}
    for seq, row in rows.items():
        facts = Facts.of(
            row,
            row.summary,
            seconds=duration_of(row, previous.get(seq)),
            prices=prices,
            note=notes.get(seq),
        )
        answers[seq] = facts, event_filter.holds(facts)
    return answers


def _by_bodies(answers: _Answers, bodies: Mapping[int, Event], event_filter: Filter) -> set[int]:
    """Return the seqs that match, using bodies to decide what rows left open."""
    matching = {seq for seq, (_, answer) in answers.items() if answer}
    for seq, event in bodies.items():
        if event_filter.holds(answers[seq][0].reading(event.text)):
            matching.add(seq)
    return matching
