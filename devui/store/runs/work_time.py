"""How long was worked for an event: the time since the one before, where somebody worked then."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Protocol

from devui.store.rows import Hold, SpanRow
from devui.wire.events import USER


class Timed(Protocol):
    """An event, as far as time goes; its members are as in `EventRow`."""

    @property
    def run(self) -> str | None: ...
    @property
    def author(self) -> str: ...
    @property
    def timestamp(self) -> float: ...
    @property
    def paused(self) -> float: ...


def seconds_of_work(row: Timed, before: Timed | None) -> float | None:
    """Seconds from the event before to this one, without those in which the run was held.

    None where no agent was at work in between: at the beginning of a run, and for what a person
    says or sets.
    """
    if before is None or before.run != row.run or row.author == USER:
        return None
    return row.timestamp - before.timestamp - row.paused


def hold_times_of(
    spans: Sequence[SpanRow], holds: Mapping[str, Sequence[Hold]]
) -> dict[int, float]:
    """For how many seconds of each span its run was held, by the span's id; `holds` by run.

    A call of a model or tool begins after the hold before it, and ends before the hold after it.
    So only what has others within it was held, and not while one of these worked: where a hold
    lay between two events isn't known, and around an agent that is a tool there may be more.
    """
    candidates = [span for span in spans if span.run in holds]
    work = _work_within(candidates)
    return {
        # What a call took beyond the end of the span around it leaves less than nothing.
        span.id: max(min(_overlap(span, holds[span.run]), span.seconds - _union(work[span.id])), 0)
        for span in candidates
        if span.seconds is not None and (span.type == "agent" or span.id in work)
    }


def _work_within(spans: Sequence[SpanRow]) -> defaultdict[int, list[tuple[float, float]]]:
    """By the id of a span around others, when the innermost of these began and ended."""
    numbers = {(span.run, span.number): span for span in spans}
    outer = {(span.run, span.parent) for span in spans}
    work: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for span in spans:
        if span.type == "agent" or span.seconds is None or (span.run, span.number) in outer:
            continue
        around = span
        while around.parent is not None and (around.run, around.parent) in numbers:
            around = numbers[around.run, around.parent]
            work[around.id].append((span.began, span.began + span.seconds))
    return work


def _overlap(span: SpanRow, holds: Sequence[Hold]) -> float:
    end = span.began + (span.seconds or 0.0)
    overlaps = (min(end, since + seconds) - max(span.began, since) for since, seconds in holds)
    return sum(each for each in overlaps if each > 0)


def _union(periods: Sequence[tuple[float, float]]) -> float:
    """How many seconds are in at least one of them."""
    total, last = 0.0, 0.0
    for begin, end in sorted(periods):
        total += max(end - max(begin, last), 0.0)
        last = max(end, last)
    return total
