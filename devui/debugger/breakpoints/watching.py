"""Breakpoints watching one run: which of them an arrival hits, and for the how many-th time."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from devui.debugger.breakpoints.breakpoints import Known
from devui.debugger.breakpoints.conditions import Facts
from devui.debugger.stepping.arrivals import Arrival

LINES = 1000
"""How many lines one logpoint may say in one run."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A breakpoint that was met."""

    known: Known
    says: str | None
    """The line of a logpoint; None of one that stops, and of one that has said enough."""

    @property
    def stops(self) -> bool:
        """Whether the run is to be held."""
        return self.known.breakpoint.stops


class Watch:
    """What the breakpoints have seen of one run."""

    def __init__(self) -> None:
        self._times: Counter[int] = Counter()
        self._exceeded: set[int] = set()
        """The budgets that are used up: told once, when they come to be."""

    def check(self, known: Iterable[Known], arrival: Arrival, facts: Facts) -> list[Hit]:
        """The breakpoints that this arrival hits."""
        hits = []
        for each in known:
            number, point = each.row.id, each.breakpoint
            met = point.matches(arrival, facts)
            if not met:
                if arrival.gate == point.gate:
                    self._exceeded.discard(number)
                continue
            if point.draft.on == "budget":
                if number in self._exceeded:
                    continue
                self._exceeded.add(number)
            self._times[number] += 1
            if point.counts(self._times[number]):
                hits.append(Hit(each, self._line(each, met)))
        return hits

    def _line(self, known: Known, met: list[Facts]) -> str | None:
        times = self._times[known.row.id]
        if known.breakpoint.stops or times > LINES:
            return None
        more = "  (this logpoint says no more in this run)" if times == LINES else ""
        return known.breakpoint.says(met) + more
