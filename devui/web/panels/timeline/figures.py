"""What the timeline says of events that its page needn't have: headers of invocations, and gaps."""

import json
from collections.abc import Iterable
from dataclasses import replace

from devui.debugger.events.prices import Prices
from devui.debugger.timeline import Heading, Invocation, Item, Line
from devui.store.journal import Journal
from devui.store.rows import EventRow, Sums
from devui.web.panels.timeline.gaps import Gap


async def invocations(
    journal: Journal, prices: Prices, session: int, items: Iterable[Item], *, until: int
) -> dict[int, Invocation]:
    """What the invocations under the headings come to by the event `until`, for each heading by the
    number of its event."""
    numbers, rows = [], {}
    for item in items:
        if isinstance(item, Heading):
            numbers.append(item.row.number)
        if isinstance(item, Heading | Line):
            rows[item.row.number] = item.row
    if not numbers:
        return {}
    every = await journal.totals.invocations(session, numbers, limits=prices.limits, until=until)
    missing = {each.message for each in every if each.message is not None} - rows.keys()
    if missing:
        rows |= {row.number: row for row in await journal.events.rows(session, missing)}
    return {
        number: _invocation(each.sums, prices, rows.get(each.message) if each.message else None)
        for number, each in zip(numbers, every, strict=True)
    }


def _invocation(sums: Sums, prices: Prices, message: EventRow | None) -> Invocation:
    total = prices.total(sums.usage)
    return Invocation(
        events=sums.events,
        seconds=sums.seconds,
        held=sums.held,
        tokens=sums.tokens,
        cost=total.cost,
        is_unpriced=total.unpriced > 0,
        failures=sums.failures,
        message=message,
    )


async def with_totals(
    journal: Journal, prices: Prices, session: int, *, above: Gap | None, below: Gap | None
) -> tuple[Gap | None, Gap | None]:
    """The gaps, each of whose events has a row, with what these come to."""
    ranges = [(each.first, each.last) for each in (above, below) if each]
    sums = iter(await journal.totals.ranges(session, ranges, limits=prices.limits))
    return (
        above and replace(above, totals=_totals(next(sums), prices)),
        below and replace(below, totals=_totals(next(sums), prices)),
    )


def _totals(sums: Sums, prices: Prices) -> str:
    total = prices.total(sums.usage)
    figures = {
        "events": sums.events,
        "seconds": round(sums.seconds, 6),
        "tokens": sums.tokens or 0,
        "dollars": total.cost or 0,
        "failures": sums.failures,
        "isPartial": False,
        "isUnpriced": total.unpriced > 0,
    }
    return json.dumps(figures, separators=(",", ":"))
