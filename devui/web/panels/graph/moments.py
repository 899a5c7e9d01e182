"""What the agents of a session had done, and were doing, at a moment. Pure."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from devui.debugger.events.nodes import name_of
from devui.store.rows import EventRow, Hold, SpanRow
from devui.store.runs.work_time import hold_times_of

_SHORTEST = 1e-3
"""The shortest hold, in seconds; anything shorter is due to rounding."""

Place = tuple[str, str | None]
"""An agent or node, and its tool, if any."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment, by the spans that had begun by then."""

    past_run: str = ""
    """The run that was in progress then, and has continued since; "" if there is none."""
    spans: Sequence[SpanRow] = ()
    """The spans, with the time they had taken so far."""
    running: Collection[int] = frozenset()
    """The ids of the spans that weren't over."""
    hold_times: Mapping[int, float] = field(default_factory=dict)
    """How long the run of each span was held during it, in seconds, by the span's id."""
    holds: Sequence[Place] = ()
    """Where the run was held."""


def moment_of(
    rows: Sequence[EventRow],
    spans: Sequence[SpanRow],
    held: Mapping[str, Sequence[Hold]],
    *,
    run: str = "",
    is_past: bool = False,
    holds: Sequence[Place] = (),
) -> Moment:
    """Return the moment after the last of these events of a session.

    `held` is when each run was held. `run` is the run in progress at the moment. If it `is_past`,
    that run has continued since.
    """
    last = {row.run: row for row in rows if row.run}
    times = _times(last, spans)
    begun, running = [], set[int]()
    first = rows[0].timestamp if rows else -math.inf
    for span in spans:
        is_current = span.run == run
        is_cut = is_current and is_past
        if span.run in times:
            until = times[span.run]
        elif is_current or (not is_past and span.began >= first):
            until = span.began
        else:
            continue
        if is_cut and span.began > until:
            continue
        if span.seconds is not None and (not is_cut or _is_over(span, until, last[span.run])):
            begun.append(span)
            continue
        begun.append(replace(span, seconds=max(until - span.began, 0.0), error=None))
        if is_current:
            running.add(span.id)
    return Moment(run if is_past else "", begun, running, hold_times_of(begun, held), holds)


def _is_over(span: SpanRow, until: float, last: EventRow) -> bool:
    """Return whether a span ended before a time, or led to one of the events up to the last."""
    is_committed = span.event is not None and span.event <= last.number
    return is_committed or span.began + (span.seconds or 0.0) <= until


def _times(last: Mapping[str, EventRow], spans: Iterable[SpanRow]) -> dict[str, float]:
    """Return the time of each run's last event.

    The timestamp of an event may be the time at which its model call began.
    """
    times = {run: row.timestamp for run, row in last.items()}
    for span in spans:
        if span.run in last and span.event is not None and span.event <= last[span.run].number:
            times[span.run] = max(times[span.run], span.began + (span.seconds or 0.0))
    return times


def holds_before(row: EventRow) -> list[Place]:
    """Return where a run was held before an event, if it was. The journal has only how long: so
    it's where the event comes from."""
    if row.paused < _SHORTEST:
        return []
    summary = row.summary
    node = name_of(summary.node).partition("@")[0] if summary.node else row.author
    return [(row.author, each.name) for each in summary.responses] or [(node, None)]
