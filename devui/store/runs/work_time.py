"""Working time: how long an agent worked on each event, and how long its run was held meanwhile."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Protocol

from devui.store.rows import Hold, SpanRow
from devui.store.summaries import Summary
from devui.wire.events import USER


class TimedRow(Protocol):
    """The members of an `EventRow` that working time is computed from."""

    @property
    def run(self) -> str | None: ...
    @property
    def author(self) -> str: ...
    @property
    def timestamp(self) -> float: ...
    @property
    def paused(self) -> float: ...
    @property
    def began(self) -> float | None: ...


def seconds_of_work(row: TimedRow, before: TimedRow | None) -> float | None:
    """Return the time from the previous event, or the run's start, to this event, in seconds,
    excluding the time that the run was held.

    None if no agent was working in between: for what a person says or sets, and for an event whose
    run isn't known.
    """
    if row.author == USER:
        return None
    if before is not None and before.run == row.run:
        return row.timestamp - before.timestamp - row.paused
    return None if row.began is None else max(row.timestamp - row.began - row.paused, 0.0)


class SummarizedTimedRow(TimedRow, Protocol):
    """The members of an `EventRow` that the duration of an event is computed from."""

    @property
    def summary(self) -> Summary: ...


def duration_of(row: SummarizedTimedRow, before: TimedRow | None) -> float | None:
    """Return how long an agent worked on this event, in seconds; None if unknown.

    Agents that run in parallel work on several events at once, each from the previous event of its
    own branch. So these durations may add up to more than `seconds_of_work`.
    """
    seconds = row.summary.seconds
    return seconds_of_work(row, before) if seconds is None else seconds


def hold_times_of(
    spans: Sequence[SpanRow], holds: Mapping[str, Sequence[Hold]]
) -> dict[int, float]:
    """Return for how many seconds of each span its run was held, by span id; `holds` are by run.

    A model or tool call begins after the hold before it and ends before the hold after it. So a
    hold can only be inside a span that contains others, and not while one of these was working. The
    result is capped accordingly, since it isn't known when exactly a hold happened between two
    events, and there may be several around an agent used as a tool.
    """
    candidates = [span for span in spans if span.run in holds]
    work = _work_within(candidates)
    return {
        # The difference is negative if a call took longer than the span around it.
        span.id: max(min(_overlap(span, holds[span.run]), span.seconds - _union(work[span.id])), 0)
        for span in candidates
        if span.seconds is not None and (span.type == "agent" or span.id in work)
    }


def _work_within(spans: Sequence[SpanRow]) -> defaultdict[int, list[tuple[float, float]]]:
    """Return the start and end of the innermost spans within each span, by the outer span's id."""
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
    """Return how many seconds are covered by at least one of the periods."""
    total, last = 0.0, 0.0
    for begin, end in sorted(periods):
        total += max(end - max(begin, last), 0.0)
        last = max(end, last)
    return total
