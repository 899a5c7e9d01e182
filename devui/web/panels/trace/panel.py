"""The Trace tab: spans of a run as a waterfall."""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, cast

from devui.store.rows import EventRow, SessionRow, SpanRow
from devui.web.links import session_url, trace_api_url, trace_url
from devui.web.panels.trace.parts import SpanBar, SpanType, TracePanel
from devui.web.services import Services
from devui.web.text import formats
from devui.web.text.formats import plural
from devui.web.text.visible import visible

MOST: Final = 400
"""Spans that are shown of a run; the export has all."""
_WIDE: Final = 1000.0
_LEAST: Final = 2.0
_WITH_FIRST: Final = 8.0
"""How wide a bar is in which a line can be seen."""
_DEEPEST: Final = 8
_ICONS: Final = {"agent": "brand", "model": "thought", "tool": "call"}


async def trace_panel(services: Services, session: SessionRow, row: EventRow | None) -> TracePanel:
    """The run of the selected event, or the newest one as it is now."""
    newest = await services.journal.runs.newest(session.key)
    run = row.run if row is not None else newest.id if newest else None
    spans = await services.journal.spans.of_run(session.key, run) if run else []
    live = services.runs.live(session.key)
    going = live is not None and live.row.id == run
    begin = min((span.began for span in spans), default=0.0)
    end = max((_end(span, going=going) for span in spans), default=begin)
    chart = _Chart(row.number if row else None, begin, max(end - begin, 1e-6), going)
    nested = list(_nested(spans))
    left_out = len(nested) - MOST
    return TracePanel(
        href=trace_url(session.key),
        event=row.number if row else None,
        title=_title(spans, going=going),
        span=formats.duration(end - begin) if spans else "",
        going=going,
        bars=tuple(chart.bar(span, level, event) for span, level, event in nested[:MOST]),
        more=f"{plural(left_out, 'more span')} in the export" if left_out > 0 else "",
        export_href=trace_api_url(session.key, run),
    )


def _title(spans: Sequence[SpanRow], *, going: bool) -> str:
    if not spans:
        return "No spans yet" if going else "No spans recorded for this run"
    return "Where the time goes" if going else "Where the time went"


def _end(span: SpanRow, *, going: bool) -> float:
    """When it was over; what goes on goes on until now."""
    if span.seconds is not None:
        return span.began + span.seconds
    return max(time.time(), span.began) if going else span.began


def _nested(spans: Sequence[SpanRow]) -> Iterator[tuple[SpanRow, int, int | None]]:
    """Each span before those within it, with its depth, and the event to look at."""
    inside: defaultdict[int | None, list[SpanRow]] = defaultdict(list)
    numbers = {span.number for span in spans}
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
        yield span, level, span.event or events.get(span.number)
        waiting += [(each, level + 1) for each in reversed(inside[span.number])]


@dataclass(frozen=True, slots=True)
class _Chart:
    """What all lines have in common."""

    selected: int | None
    begin: float
    seconds: float
    going: bool

    def bar(self, span: SpanRow, level: int, event: int | None) -> SpanBar:
        """One line."""
        end = _end(span, going=self.going)
        x = self._place(span.began - self.begin)
        width = max(self._place(end - span.began), _LEAST)
        first = span.first if width > _WITH_FIRST else None
        open_now = span.seconds is None and self.going
        agent = "" if span.type == "agent" else visible(span.agent)
        return SpanBar(
            dom_id=f"span-{span.id}",
            type=cast("SpanType", span.type),
            icon=_ICONS[span.type],
            name=visible(span.name or span.type),
            who=agent,
            level=min(level, _DEEPEST),
            href=session_url(span.session, event=event, tab="event") if event else "",
            x=min(x, _WIDE - _LEAST),
            width=width,
            first=None if first is None else self._place(span.began - self.begin + first),
            took="…" if open_now else _took(span),
            title=_span_title(span),
            error=visible(span.error or ""),
            going=open_now,
            selected=span.event is not None and span.event == self.selected,
        )

    def _place(self, seconds: float) -> float:
        return round(_WIDE * max(seconds, 0.0) / self.seconds, 2)


def _took(span: SpanRow) -> str:
    return "?" if span.seconds is None else formats.duration(span.seconds)


def _span_title(span: SpanRow) -> str:
    facts = [visible(f"{span.type} {span.name}")]
    facts.append("no end recorded" if span.seconds is None else _took(span))
    if span.first is not None:
        facts.append(f"first chunk after {formats.duration(span.first)}")
    return ", ".join(facts)
