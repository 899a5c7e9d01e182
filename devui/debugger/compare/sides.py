"""The two sides of a comparison, read from the journal: sessions or single runs."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from devui.debugger.compare.comparison import Comparison, compare
from devui.debugger.compare.steps import Step, step_of
from devui.store.journal import Journal
from devui.store.rows import Durations, EventRow, RunRow, SessionRow
from devui.wire.events import Event

MOST: Final = 5_000
"""How many events of a side are compared, from its beginning."""
_BATCH: Final = 200
"""How many bodies are read at a time."""


class NoSuchRun(LookupError):
    """The session has no run of this number."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: the events of a session or of one of its runs."""

    session: SessionRow
    place: int | None
    """The position of the run in its session, from 1; None for the whole session."""
    run: RunRow | None
    """That run, or the newest one of a whole session."""
    runs: tuple[RunRow, ...]
    """All runs of the session, in the order in which they began."""
    events: tuple[EventRow, ...]
    left_out: int
    """How many events aren't compared because there are too many."""
    durations: Durations
    """The durations of all its runs that have ended."""

    @property
    def name(self) -> str:
        """Its name in URLs: `12`, or `12@2` for a run."""
        return str(self.session.key) + (f"@{self.place}" if self.place else "")


async def read_side(journal: Journal, session: SessionRow, place: int | None) -> Side:
    """Read a session, or its run at this position, counted from 1; raises NoSuchRun."""
    runs = _in_order(await journal.runs.list(session.key))
    if place is not None and not 1 <= place <= len(runs):
        raise NoSuchRun(f"session {session.key} has no run {place}: it has {len(runs)}")
    run = runs[place - 1] if place else max(runs, key=lambda run: run.seq, default=None)
    rows = await journal.events.page(session.key, after=0, limit=session.events)
    if place is not None and run is not None:
        rows = [row for row in rows if row.run == run.id]
    first_rows = tuple(rows[:MOST])
    totals = journal.totals
    durations = await (
        totals.seconds_of_run(run.id) if place and run else totals.seconds(session.key)
    )
    left_out = len(rows) - len(first_rows)
    return Side(session, place, run, tuple(runs), first_rows, left_out, durations)


def place_of(run: RunRow, runs: Sequence[RunRow]) -> int:
    """Return the position of a run among its session's runs, from 1."""
    return [each.id for each in _in_order(runs)].index(run.id) + 1


def _in_order(runs: Sequence[RunRow]) -> list[RunRow]:
    """Sort runs by their start; each starts after the previous one has ended."""
    return sorted(runs, key=lambda run: (run.started, run.seq))


async def compare_sides(journal: Journal, left: Side, right: Side) -> Comparison:
    """Align the events of both sides, in another thread."""
    shared = None if left.place or right.place else await _shared(journal, left, right)
    first, second = await _steps(journal, left), await _steps(journal, right)
    return await asyncio.to_thread(compare, first, second, shared=shared)


async def _shared(journal: Journal, left: Side, right: Side) -> int | None:
    """Return how many events two sessions have in common by forks; None if they have no common
    ancestor."""
    ours, theirs = [await _ancestors(journal, side.session) for side in (left, right)]
    limits = [min(ours[key], theirs[key]) for key in ours.keys() & theirs.keys()]
    return max(limits, default=None)


async def _ancestors(journal: Journal, session: SessionRow) -> dict[int, int]:
    """Map the session and its ancestors, by key, to how many of their events it shares."""
    counts = {session.key: session.events}
    key = session.key
    while (fork := await journal.forks.get(key)) and fork.parent not in counts:
        counts[fork.parent] = min(counts[key], fork.number)
        key = fork.parent
    return counts


async def _steps(journal: Journal, side: Side) -> list[Step]:
    steps: list[Step] = []
    numbers = [row.number for row in side.events]
    for start in range(0, len(numbers), _BATCH):
        batch = numbers[start : start + _BATCH]
        bodies = await journal.events.bodies(side.session.key, batch)
        steps += await asyncio.to_thread(_steps_of, bodies)
    return steps


def _steps_of(bodies: Sequence[tuple[EventRow, Event]]) -> list[Step]:
    return [step_of(row, event) for row, event in bodies]
