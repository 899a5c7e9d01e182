"""What a side of a comparison came to: its figures, as far as they are known."""

import math
from dataclasses import dataclass

from devui.debugger.compare.sides import Side
from devui.debugger.events.prices import Prices


@dataclass(frozen=True, slots=True)
class SideFacts:
    """Figures of the events that are compared."""

    events: int
    calls: int
    """Calls of tools."""
    tokens: int | None
    """None when no model counted any."""
    cost: float | None
    """Dollars; None when no answer's cost is known."""
    unpriced: int
    """Answers whose cost is unknown, and is not in the sum."""
    seconds: float | None
    """Of the ended runs, without the time in which they were held; what lies between runs does not
    count."""


def facts_of(side: Side, prices: Prices) -> SideFacts:
    """The sums over the events of a side."""
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
