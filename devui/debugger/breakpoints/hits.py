"""A breakpoint asked about the past: where in a session it would have been met.

The journal has events, not gates. So a tool breakpoint is met at the event that calls the tool or
brings its answer, a model breakpoint at the model's event, and one on entering an agent at the
agent's first event of an invocation. State is as this session's events made it. Rows tell which
events may be met at all; bodies are read of those alone.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from devui.debugger.breakpoints.breakpoints import Breakpoint
from devui.debugger.breakpoints.scan import PastHit, Scan
from devui.debugger.prices import Prices
from devui.store.journal import Journal
from devui.store.rows import EventRow, SessionRow

SCAN = 20_000
"""How many events one request looks through, from the session's first."""
_PAGE = 200


@dataclass(frozen=True, slots=True)
class Past:
    """What was found, in order."""

    hits: list[PastHit]
    scanned: int
    """The number of the last event that was looked at."""
    more: bool
    """There are events behind it."""


async def past_hits(
    journal: Journal,
    session: SessionRow,
    points: Sequence[Breakpoint],
    prices: Prices,
    *,
    after: int = 0,
    before: int | None = None,
    limit: int = 1000,
) -> Past:
    """Where any of them would have been met, by events' numbers: the first ones past `after`.

    With `before` the last ones below it.
    """
    scan = Scan(points, await journal.sessions.initial_state(session.key), prices)
    hits: list[PastHit] = []
    seq = scanned = 0
    while scanned < SCAN and (
        rows := await journal.events.page(session.key, after=seq, limit=_PAGE)
    ):
        found = await _of_page(journal, session, scan, rows)
        hits += [hit for hit in found if after < hit.number < (before or hit.number + 1)]
        seq, scanned = rows[-1].seq, rows[-1].number
        enough = len(hits) >= limit if before is None else scanned >= before
        if enough:
            break
    kept = hits[:limit] if before is None else hits[-limit:]
    return Past(kept, scanned, scanned < session.events)


async def _of_page(
    journal: Journal, session: SessionRow, scan: Scan, rows: Sequence[EventRow]
) -> list[PastHit]:
    """Of rows that follow each other; read is only what these leave open."""
    seen = await asyncio.to_thread(scan.look, rows)
    wanted = [each.row.number for each in seen if each.reads_body]
    bodies = await journal.events.bodies(session.key, wanted) if wanted else []
    first, last = rows[0].number, rows[-1].number
    written = (
        await journal.histories.written(session.key, first=first, last=last, keys=scan.keys)
        if scan.keys is None or scan.keys
        else {}
    )
    texts = {row.number: data for row, data in bodies}
    return await asyncio.to_thread(lambda: list(scan.hits(seen, texts, written)))
