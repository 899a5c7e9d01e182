"""The totals of each side of a comparison, as far as they are known."""

import math
from dataclasses import dataclass

from devui.debugger.compare.sides import Side
from devui.debugger.events.prices import Prices


@dataclass(frozen=True, slots=True)
class SideFacts:
    """The totals of the compared events."""

    events: int
    calls: int
    """The number of tool calls."""
    tokens: int | None
    """None if no model reported a count."""
    cost: float | None
    """The sum of the known costs, in dollars; None if none is known."""
    unpriced: int
    """How many answers have an unknown cost, which is missing from the sum."""
    seconds: float | None
    """The time at work of the ended runs: without the time held, and without the time between
    runs."""


def facts_of(side: Side, prices: Prices) -> SideFacts:
    """Return the totals of a side."""
    summaries = [row.summary for row in side.events]
    tokens = [each.tokens for each in summaries if each.tokens is not None]
    costs = [prices.cost(each.usage) for each in summaries if each.usage is not None]
    priced = [cost for cost in costs if cost is not None]
    return SideFacts(
        events=len(side.events) + side.left_out,
        calls=sum(len(each.calls) for each in summaries),
        tokens=sum(tokens) if tokens else None,
        cost=math.fsum(priced) if priced else None,
        unpriced=len(costs) - len(priced),
        seconds=side.durations.seconds,
    )
