"""The trace: spans of a run as a waterfall."""

import math
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from devui.debugger.runs.live import LiveRun
from devui.store.journal import Journal
from devui.store.rows import Durations, EventRow, Hold, SessionRow, SpanRow
from devui.store.runs.work_time import hold_times_of
from devui.web.links import session_url, trace_api_url, trace_url
from devui.web.page_query import TRACE
from devui.web.panels.timeline.rows import row_text
from devui.web.panels.trace.parts import RunHeading, SpanBar, SpanType, TimeTick, TracePanel
from devui.web.services import Services
from devui.web.text import formats
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import moment, plural

MOST: Final = 400
"""Maximum number of spans shown for a run; the export has all."""
_WIDE: Final = 1000.0
_LEAST: Final = 2.0
_WITH_FIRST: Final = 8.0
"""Minimum width of a bar that shows a line for the first chunk."""
_DEEPEST: Final = 8
_MOST_TICKS: Final = 6
_ICONS: Final = {"agent": "brand", "model": "thought", "tool": "call"}


async def trace_panel(services: Services, session: SessionRow, row: EventRow | None) -> TracePanel:
    """Return the trace of the selected event's run, or of the newest run as it is now."""
    newest = await services.journal.runs.newest(session.key)
    run = row.run if row is not None else None
    if run is None and newest is not None:  # an event that a person set belongs to no run
        run = newest.id
    spans = await services.journal.spans.of_run(session.key, run) if run else []
    live = services.runs.live(session.key)
    going = live is not None and live.row.id == run
    totals = services.journal.totals
    holds = (await totals.holds(session.key)).get(run, []) if run else []
    if live is not None and going:
        holds += _open_hold(live, spans, holds)
        pause = live.stepper.pauses.seconds
        durations = Durations(max(time.time() - live.row.started - pause, 0), pause)
    else:
        durations = await totals.seconds_of_run(run) if run else Durations()
    begin = min((span.began for span in spans), default=0.0)
    end = max((_end(span, going=going) for span in spans), default=begin)
    holds = [*_since(begin, holds)]
    selection = row.number if row else None
    hold_times = hold_times_of(spans, {run: holds}) if run else {}
    errors = await _errors(services.journal, session.key, spans)
    chart = _Chart(selection, begin, max(end - begin, 1e-6), going, hold_times, errors)
    rows = list(_nest(spans))
    left_out = len(rows) - MOST
    ticks = tuple(chart.ticks()) if spans else ()
    return TracePanel(
        href=trace_url(session.key),
        event=selection,
        heading=await _heading(services.journal, session.key, run),
        duration="" if durations.seconds is None else formats.elapsed(durations.seconds),
        held_note=formats.held_for(durations.held),
        going=going,
        bars=tuple(chart.bar(*each) for each in rows[:MOST]),
        ticks=ticks,
        lines="".join(f"M{tick.x * 10:g} 0v10" for tick in ticks),
        holds=chart.band(holds),
        more=f"{plural(left_out, 'more span')} in the export" if left_out > 0 else "",
        export_href=trace_api_url(session.key, run),
    )


async def _heading(journal: Journal, session: int, run: str | None) -> RunHeading:
    """Return the heading of a run, with links to the runs beside it. These links lead to events,
    so runs without any, such as those of an app that doesn't load, are left out."""
    if run is None:
        return RunHeading("No runs yet")
    starts = await journal.totals.runs(session)
    runs = [*starts]
    place = runs.index(run) if run in starts else len(runs)

    def href(at: int) -> str:
        event = starts[runs[at]] if 0 <= at < len(runs) else None
        return session_url(session, event=event, view=TRACE) if event else ""

    if run not in starts:
        return RunHeading("No events yet", previous_href=href(place - 1))
    [row] = await journal.events.rows(session, [starts[run]])
    return RunHeading(
        title=await _message(journal, row),
        began=moment(row.timestamp),
        place=f"{place + 1:,} of {len(runs):,}" if len(runs) > 1 else "",
        previous_href=href(place - 1),
        next_href=href(place + 1),
    )


async def _message(journal: Journal, row: EventRow) -> str:
    """Return the user's message for the run that begins with this event: a retry has the message
    of the run before it."""
    if row.kind != "user":
        beginnings = await journal.events.beginnings(row.session, [row.invocation_id])
        [row] = await journal.events.rows(row.session, beginnings.values())
    return row_text(row.summary) if row.kind == "user" else "No message"


async def _errors(
    journal: Journal, session: int, spans: Sequence[SpanRow]
) -> dict[tuple[int, str | None], str]:
    numbers = {span.event for span in spans if span.type == "tool" and span.event}
    rows = await journal.events.rows(session, numbers) if numbers else []
    return {
        (row.number, response.id): response.preview
        for row in rows
        for response in row.summary.responses
        if response.failed
    }


def _end(span: SpanRow, *, going: bool) -> float:
    """Return when the span ended; now if it is still active."""
    if span.seconds is not None:
        return span.began + span.seconds
    return max(time.time(), span.began) if going else span.began


def _since(begin: float, holds: Sequence[Hold]) -> Iterator[Hold]:
    """Yield the holds from the first span on: earlier ones aren't on the axis."""
    for since, seconds in holds:
        if (remaining := since + seconds - max(since, begin)) > 0:
            yield Hold(max(since, begin), remaining)


def _open_hold(live: LiveRun, spans: Sequence[SpanRow], holds: Sequence[Hold]) -> list[Hold]:
    """Return the current hold; a finished one is on the axis once its event is committed."""
    duration = live.stepper.pauses.seconds - sum(seconds for _, seconds in holds)
    if not spans or not live.stepper.holds or duration <= 0:
        return []
    return [Hold(time.time() - duration, duration)]


def _nest(spans: Sequence[SpanRow]) -> Iterator[tuple[SpanRow, int, int | None, str]]:
    """Yield each span before those within it, with its depth, the event to link to, and the text
    beside its name: its agent if the enclosing span isn't that agent's own, or its round."""
    rounds = _rounds(spans)
    inside: defaultdict[int | None, list[SpanRow]] = defaultdict(list)
    numbers = {span.number: span for span in spans}
    events: dict[int, int] = {}
    for span in spans:
        inside[span.parent if span.parent in numbers else None].append(span)
    for span in reversed(spans):
        event = span.event or events.get(span.number)
        if event and span.parent is not None:
            events[span.parent] = min(event, events.get(span.parent, event))
    waiting = [(span, 1) for span in reversed(inside[None])]
    while waiting:
        span, level = waiting.pop()
        around = numbers.get(span.parent) if span.parent is not None else None
        is_own = span.type == "agent" or (around is not None and around.name == span.agent)
        aside = rounds.get(span.number, "") if is_own else span.agent
        yield span, level, span.event or events.get(span.number), aside
        waiting += [(each, level + 1) for each in reversed(inside[span.number])]


def _rounds(spans: Sequence[SpanRow]) -> dict[int, str]:
    """Return the rounds of agents that the enclosing one ran several times: `2 of 5`."""
    repeats: defaultdict[tuple[int | None, str], list[int]] = defaultdict(list)
    for span in spans:
        if span.type == "agent" and span.parent is not None:
            repeats[span.parent, span.name].append(span.number)
    return {
        number: f"{place} of {len(numbers)}"
        for numbers in repeats.values()
        if len(numbers) > 1
        for place, number in enumerate(numbers, 1)
    }


@dataclass(frozen=True, slots=True)
class _Chart:
    """The data that all lines share."""

    selection: int | None
    begin: float
    seconds: float
    going: bool
    hold_times: Mapping[int, float]
    """How long the run was held during each span, in seconds, by the span's id."""
    errors: Mapping[tuple[int, str | None], str]
    """Errors that tools returned, by the result's event and the id of the call."""

    def ticks(self) -> Iterator[TimeTick]:
        """Yield a few round moments."""
        least = self.seconds / _MOST_TICKS
        power = 10.0 ** math.floor(math.log10(least))
        step = next(power * each for each in (1, 2, 5, 10) if power * each >= least)
        for number in range(1, int(self.seconds / step) + 1):
            place = round(number * step / self.seconds * 100, 2)
            yield TimeTick(place, _moment(number * step))

    def band(self, holds: Sequence[Hold]) -> str:
        """Return the holds as a path through a line."""
        path = ""
        for since, seconds in holds:
            x = self._place(since - self.begin)
            width = min(self._place(seconds), _WIDE - x)
            path += f"M{x:g} 0h{width:g}v10h{-width:g}z" if width > 0 else ""
        return path

    def bar(self, span: SpanRow, level: int, event: int | None, aside: str) -> SpanBar:
        """Return one line."""
        end = _end(span, going=self.going)
        x = self._place(span.began - self.begin)
        width = max(self._place(end - span.began), _LEAST)
        first = span.first if width > _WITH_FIRST else None
        open_now = span.seconds is None and self.going
        hold_time = self.hold_times.get(span.id, 0.0)
        return SpanBar(
            dom_id=f"span-{span.id}",
            type=cast("SpanType", span.type),
            icon=_ICONS[span.type],
            name=visible(span.name or span.type),
            aside=visible(aside),
            level=min(level, _DEEPEST),
            href=session_url(span.session, event=event, view=TRACE) if event else "",
            x=min(x, _WIDE - _LEAST),
            width=width,
            first=None if first is None else self._place(span.began - self.begin + first),
            duration="…" if open_now else _took(span, hold_time),
            title=_span_title(span, hold_time),
            error=visible(span.error or self.errors.get((span.event or 0, span.call), "")),
            going=open_now,
            is_selected=span.event is not None and span.event == self.selection,
        )

    def _place(self, seconds: float) -> float:
        return round(_WIDE * max(seconds, 0.0) / self.seconds, 2)


def _moment(seconds: float) -> str:
    """`200 ms`, `1.5 s`, `20 s`, `1 min 40 s`."""
    if seconds < 1:
        return f"{seconds * 1000:g} ms"
    return f"{seconds:g} s" if seconds < 60 else formats.duration(seconds)


def _took(span: SpanRow, hold_time: float) -> str:
    return "?" if span.seconds is None else formats.duration(span.seconds - hold_time)


def _span_title(span: SpanRow, hold_time: float) -> str:
    facts = [visible(f"{span.type} {span.name}")]
    facts.append("no end recorded" if span.seconds is None else _took(span, hold_time))
    if note := formats.held_for(hold_time):
        facts.append(note)
    if span.first is not None:
        facts.append(f"first chunk after {formats.duration(span.first)}")
    return ", ".join(facts)
