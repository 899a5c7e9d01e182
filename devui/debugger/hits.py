"""A breakpoint asked about the past: where in a session it would have been met.

The journal has events, not gates. So a tool breakpoint is met at the event that calls the tool or
brings its answer, a model breakpoint at the model's event, and one on entering an agent at the
agent's first event of an invocation. State is as this session's events made it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from devui.debugger.arrivals import Arrival, of_event
from devui.debugger.breakpoints import Breakpoint, Known
from devui.debugger.commit import event_of
from devui.debugger.facts import Meter, calls_of, facts_of, responses_of
from devui.debugger.watching import Hit, Watch
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
    watch: Watch = field(default_factory=Watch)
    meter: Meter = field(default_factory=Meter)
    agents: set[str] = field(default_factory=set)


class _Scan:
    """Goes through a session's events, in order."""

    def __init__(self, point: Breakpoint, state: Mapping[str, Any]) -> None:
        self._point = Known(_NO_ROW, point)
        self._state = dict(state)
        self._runs: dict[str, _Run] = {}

    def event(self, row: EventRow, data: str) -> PastHit | None:
        """Look at the next event."""
        event = event_of(json.loads(data), data, final=row.final)
        run = self._runs.setdefault(row.run or row.invocation_id, _Run(row.timestamp))
        arrival = of_event(event, ()).before(self._state)
        run.meter.add(event)
        used = run.meter.facts(row.timestamp - run.began)
        hits: list[Hit] = []
        for each in _arrivals(arrival, self._point.breakpoint.gate, run):
            if each.gate == "after_commit":
                self._state.update(arrival.delta)
            hits += run.watch.check([self._point], each, facts_of(each, self._state, used))
        self._state.update(arrival.delta)
        if not hits or arrival.summary is None:
            return None
        return PastHit(row.number, row.seq, hits[0].says or arrival.summary.text)


async def past_hits(
    journal: Journal,
    session: SessionRow,
    point: Breakpoint,
    *,
    after: int = 0,
    before: int | None = None,
    limit: int = 1000,
) -> Past:
    """Where it would have been met, by events' numbers: the first ones past `after`.

    With `before` the last ones below it.
    """
    scan = _Scan(point, await journal.sessions.initial_state(session.key))
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


def _arrivals(arrival: Arrival, gate: str, run: _Run) -> Iterator[Arrival]:
    """What came to a gate of this kind when the event was made."""
    first = arrival.agent not in run.agents
    run.agents.add(arrival.agent)
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
