"""Figures for events that a page may not have: those of invocation headers and of gaps."""

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
    """Return the figures of the invocations under the headings, up to the event `until`, by the
    number of each heading's event."""
    numbers, rows = [], {}
    for item in items:
        if isinstance(item, Heading):
            numbers.append(item.row.number)
        if isinstance(item, Heading | Line):
            rows[item.row.number] = item.row
    if not numbers:
        return {}
    beginnings = await journal.events.beginnings(
        session, {rows[number].invocation_id for number in numbers}
    )
    every = await journal.totals.invocations(session, numbers, limits=prices.limits, until=until)
    messages = {
        number: each.message or beginnings.get(rows[number].invocation_id)
        for number, each in zip(numbers, every, strict=True)
    }
    missing = {message for message in messages.values() if message is not None} - rows.keys()
    if missing:
        rows |= {row.number: row for row in await journal.events.rows(session, missing)}
    return {
        number: _invocation(each.sums, prices, _user_message(rows.get(messages[number] or 0)))
        for number, each in zip(numbers, every, strict=True)
    }


def _user_message(row: EventRow | None) -> EventRow | None:
    return row if row is not None and row.kind == "user" else None


async def later_parts(journal: Journal, session: int, items: Iterable[Item]) -> dict[int, int]:
    """Return, for each event in a later part of its invocation, the first event of that part.

    A later part begins where an invocation continues after events of another one. For example, a
    person may set state between a run and its retry: what the retry adds is a later part.
    """
    rows = [item.row for item in items if isinstance(item, Heading | Line)]
    beginnings = await journal.events.beginnings(session, {row.invocation_id for row in rows})
    starts = await journal.totals.starts(session, [row.number for row in rows])
    return {
        row.number: starts[row.number]
        for row in rows
        if starts[row.number] > beginnings.get(row.invocation_id, row.number)
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
    """Return the gaps with the totals of their events, each of which must have a row."""
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
