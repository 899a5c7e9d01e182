"""A breakpoint asked about the past: where in a session it would have been met.

The journal has events, not gates. So a tool breakpoint is met at the event that calls the tool or
brings its answer, a model breakpoint at the model's event, and one on entering an agent at the
agent's first event of an invocation. State is as this session's events made it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from devui.debugger.breakpoints.breakpoints import Breakpoint, Known
from devui.debugger.breakpoints.facts import Meter, calls_of, facts_of, responses_of
from devui.debugger.breakpoints.watching import Hit, Watch
from devui.debugger.commit import event_of
from devui.debugger.prices import Prices
from devui.debugger.stepping.arrivals import Arrival, of_event
from devui.store.journal import Journal
from devui.store.rows import BreakpointRow, EventRow, SessionRow

SCAN = 20_000
"""How many events one request looks through, from the session's first."""
_PAGE = 200


@dataclass(frozen=True, slots=True)
class PastHit:
    """An event at which the breakpoint would have been met."""

    number: int
    seq: int
    text: str
    """What the logpoint would have said, else the event in one line."""


@dataclass(frozen=True, slots=True)
class Past:
    """What was found, in order."""

    hits: list[PastHit]
    scanned: int
    """The number of the last event that was looked at."""
    more: bool
    """There are events behind it."""


@dataclass(slots=True)
class _Run:
    """What is known of one run of the past."""

    began: float
    meter: Meter
    watch: Watch = field(default_factory=Watch)
    agents: set[str] = field(default_factory=set)


class _Scan:
    """Goes through a session's events, in order."""

    def __init__(
        self, points: Sequence[Breakpoint], state: Mapping[str, Any], prices: Prices
    ) -> None:
        rows = (replace(_NO_ROW, id=number) for number in range(len(points)))
        self._points = [Known(row, point) for row, point in zip(rows, points, strict=True)]
        self._state = dict(state)
        self._prices = prices
        self._runs: dict[str, _Run] = {}

    def event(self, row: EventRow, data: str) -> PastHit | None:
        """Look at the next event."""
        event = event_of(json.loads(data), data, final=row.final)
        new = _Run(row.timestamp, Meter(self._prices))
        run = self._runs.setdefault(row.run or row.invocation_id, new)
        arrival = of_event(event, ()).before(self._state)
        run.meter.add(event)
        used = run.meter.facts(row.timestamp - run.began)
        first = arrival.agent not in run.agents
        run.agents.add(arrival.agent)
        committed = {**self._state, **arrival.delta}
        hits: list[Hit] = []
        for point in self._points:
            for each in _arrivals(arrival, point.breakpoint.gate, first=first):
                state = committed if each.gate == "after_commit" else self._state
                hits += run.watch.check([point], each, facts_of(each, state, used))
        self._state = committed
        if not hits or arrival.summary is None:
            return None
        return PastHit(row.number, row.seq, hits[0].says or arrival.summary.text)


async def past_hits(
    journal: Journal,
    session: SessionRow,
    points: Sequence[Breakpoint],
    prices: Prices,
    *,
    after: int = 0,
    before: int | None = None,
    limit: int = 1000,
) -> Past:
    """Where any of them would have been met, by events' numbers: the first ones past `after`.

    With `before` the last ones below it.
    """
    scan = _Scan(points, await journal.sessions.initial_state(session.key), prices)
    hits: list[PastHit] = []
    seq = scanned = 0
    while scanned < SCAN and (page := await journal.events.following(session.key, seq, _PAGE)):
        for row, data in page:
            hit = scan.event(row, data)
            if hit is not None and after < hit.number < (before or hit.number + 1):
                hits.append(hit)
        seq, scanned = page[-1][0].seq, page[-1][0].number
        if before is None and len(hits) >= limit:
            break
    kept = hits[:limit] if before is None else hits[-limit:]
    return Past(kept, scanned, scanned < session.events)


def _arrivals(arrival: Arrival, gate: str, *, first: bool) -> Iterator[Arrival]:
    """What came to a gate of this kind when the event was made, its agent's `first` of a run."""
    by_model = (
        arrival.agent != "user" and (arrival.held.get("content") or {}).get("role") == "model"
    )
    match gate:
        case "before_commit":
            yield arrival
        case "after_commit":
            yield replace(arrival, gate="after_commit")
        case "before_tool":
            for call in calls_of(arrival.held):
                yield replace(arrival, gate="before_tool", tool=str(call["name"]), held=call)
        case "after_tool":
            for given in responses_of(arrival.held):
                held = {"name": given.get("name"), "result": given.get("response")}
                yield replace(arrival, gate="after_tool", tool=str(given.get("name")), held=held)
        case "before_model" if by_model:
            yield replace(arrival, gate="before_model")
        case "after_model" if by_model:
            yield replace(arrival, gate="after_model")
        case "enter_agent" if first and arrival.agent != "user":
            yield replace(arrival, gate="enter_agent")


_NO_ROW = BreakpointRow(0, "", 0, enabled=True, hits=0, data="")
