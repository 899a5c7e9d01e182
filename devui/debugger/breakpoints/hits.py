"""Breakpoints in the past: where in a session they would have been hit.

The journal has events, not gates. So a tool breakpoint is hit at the event that calls the tool or
has its result, a model breakpoint at the model's event, and one on entering an agent at the agent's
first event in a run. State is what this session's events have made of it. Rows decide which events
may be hits, and only the bodies of those are read.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from devui.debugger.breakpoints.breakpoint import Breakpoint, Hit, StoredBreakpoint, Watch
from devui.debugger.events.prices import Prices
from devui.debugger.predicates.facts import Facts, calls_of, responses_of
from devui.debugger.runs.meter import Meter
from devui.debugger.stepping.arrivals import Arrival
from devui.store.journal import Journal
from devui.store.rows import BreakpointRow, EventRow, Json, SessionRow
from devui.store.summaries import Summary
from devui.store.values import parse_json

SCAN = 20_000
"""How many events one request scans, from the session's first."""
_PAGE = 200
_NO_ROW = BreakpointRow(0, "", 0, enabled=True, hits=0, data="")


@dataclass(frozen=True, slots=True)
class PastHit:
    """An event at which a breakpoint would have been hit."""

    number: int
    seq: int
    text: str
    """The line of the logpoint, or the event in one line."""


@dataclass(frozen=True, slots=True)
class Past:
    """The hits of a session, in order."""

    hits: list[PastHit]
    scanned: int
    """The number of the last event that was scanned."""
    has_more: bool
    """Whether there are events after it."""


@dataclass(slots=True)
class _Run:
    """One past run, as far as it has been scanned."""

    began: float
    meter: Meter
    watch: Watch = field(default_factory=Watch)
    agents: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An event that may be a hit, judging by its row."""

    row: EventRow
    summary: Summary
    points: Sequence[StoredBreakpoint]
    """The breakpoints that it may hit."""
    reads_body: bool


class _State:
    """State after the events so far; what they wrote is parsed on demand."""

    def __init__(self, initial: Mapping[str, Json]) -> None:
        self._values = dict(initial)
        self._texts: dict[str, str] = {}

    def write(self, texts: Mapping[str, str]) -> None:
        self._texts |= texts

    def all(self) -> Mapping[str, Json]:
        """Return the whole state, valid until the next write."""
        self._values |= {key: parse_json(text) for key, text in self._texts.items()}
        self._texts.clear()
        return self._values

    def old(self, key: str) -> dict[str, Json]:
        """Return the value of a key as `old` of a change; empty if it has none."""
        if key in self._texts:
            self._values[key] = parse_json(self._texts.pop(key))
        return {"old": self._values[key]} if key in self._values else {}


class _Scan:
    """A pass over a session's events: the state so far, and the usage and hits of each run."""

    def __init__(
        self, points: Sequence[Breakpoint], state: Mapping[str, Json], prices: Prices
    ) -> None:
        rows = (replace(_NO_ROW, id=number) for number in range(len(points)))
        self._points = [
            StoredBreakpoint(row, point) for row, point in zip(rows, points, strict=True)
        ]
        self._state = _State(state)
        self._prices = prices
        self._runs: dict[str, _Run] = {}
        self._meters = any("run" in point.names for point in points)
        names = {point.draft.name for point in points if point.draft.on == "state"}
        every = any("*" in name for name in names) or any("state" in each.names for each in points)
        self.keys: frozenset[str] | None = None if every else frozenset(names)
        """The state keys whose writes matter; None for all."""

    def look(self, rows: Sequence[EventRow]) -> list[_Candidate]:
        """Return which of the breakpoints each of the next events may hit."""
        return [self._look(row) for row in rows]

    def _look(self, row: EventRow) -> _Candidate:
        summary, run = row.summary, self._run(row)
        first = row.author not in run.agents
        run.agents.add(row.author)
        facts = Facts.of(row, summary)
        points = [point for point in self._points if point.breakpoint.may_match(facts, first=first)]
        reads = any(point.breakpoint.reads_body for point in points)
        return _Candidate(row, summary, points, reads or (self._meters and row.kind == "call"))

    def hits(
        self,
        candidates: Sequence[_Candidate],
        bodies: Mapping[int, str],
        deltas: Mapping[int, Mapping[str, str]],
    ) -> Iterator[PastHit]:
        """Yield the hits among the candidates.

        `bodies` has the needed bodies, `deltas` the state that was written, as JSON texts by event
        number.
        """
        for each in candidates:
            number = each.row.number
            body = json.loads(bodies.get(number, "{}"), parse_constant=str)
            if self._meters:
                self._count(each, body)
            hits = [*self._hits_of(each, body, deltas.get(number, {}))]
            if hits:
                hit = min(hits, key=lambda hit: hit.point.row.id)
                yield PastHit(number, each.row.seq, hit.line or each.summary.text)

    def _count(self, candidate: _Candidate, event: Mapping[str, Any]) -> None:
        row, summary = candidate.row, candidate.summary
        meter = self._run(row).meter
        meter.count(tokens=summary.tokens or 0, usage=summary.usage, size=row.size)
        if row.kind == "call":
            meter.call(calls_of(event))

    def _hits_of(
        self, candidate: _Candidate, event: Mapping[str, Any], delta: Mapping[str, str]
    ) -> Iterator[Hit]:
        """Yield the hits before an event's commit, then those after it."""
        arrival = self._arrival(candidate, event, delta) if candidate.points else None
        points: dict[bool, list[StoredBreakpoint]] = {False: [], True: []}
        for each in candidate.points:
            points[each.breakpoint.gate == "after_commit"].append(each)
        if arrival is not None:
            yield from self._check(points[False], candidate.row, arrival)
        self._state.write(delta)
        if arrival is not None:
            yield from self._check(points[True], candidate.row, arrival)

    def _check(
        self, points: Iterable[StoredBreakpoint], row: EventRow, arrival: Arrival
    ) -> Iterator[Hit]:
        run = self._run(row)
        usage = run.meter.facts(row.timestamp - run.began) if self._meters else {}
        for point in points:
            state = self._state.all() if "state" in point.breakpoint.names else {}
            for each in _arrivals(arrival, point.breakpoint.gate):
                yield from run.watch.check([point], each, each.facts(state, usage, self._prices))

    def _run(self, row: EventRow) -> _Run:
        name = row.run or row.invocation_id
        run = self._runs.get(name)
        if run is None:
            run = self._runs[name] = _Run(row.timestamp, Meter(self._prices))
        return run

    def _arrival(
        self, candidate: _Candidate, event: Mapping[str, Any], delta: Mapping[str, str]
    ) -> Arrival:
        row = candidate.row
        arrival = Arrival(
            gate="before_commit",
            agent=row.author,
            branch=row.branch,
            path=(row.author,),
            payload=event,
            message=None,
            summary=candidate.summary,
            size=row.size,
        )
        changed = [key for key in arrival.delta or delta if key in delta]
        changes = [
            {"key": key, "new": parse_json(delta[key]), **self._state.old(key)} for key in changed
        ]
        return replace(arrival, changes=tuple(changes))


def _arrivals(arrival: Arrival, gate: str) -> Iterator[Arrival]:
    """Yield the arrivals at this gate that the event stands for."""
    by_model = (
        arrival.agent != "user" and (arrival.payload.get("content") or {}).get("role") == "model"
    )
    match gate:
        case "before_commit" | "enter_agent":
            yield replace(arrival, gate=gate)
        case "after_commit":
            yield replace(arrival, gate="after_commit")
        case "before_tool":
            for call in calls_of(arrival.payload):
                yield replace(arrival, gate="before_tool", tool=str(call["name"]), payload=call)
        case "after_tool":
            for response in responses_of(arrival.payload):
                payload = {"name": response.get("name"), "result": response.get("response")}
                yield replace(
                    arrival, gate="after_tool", tool=str(payload["name"]), payload=payload
                )
        case "before_model" | "after_model" if by_model:
            yield replace(arrival, gate=gate)


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
    """Return the events at which any of the breakpoints would have been hit.

    These are the first ones after the event `after` or, with `before`, the last ones before that
    event; both are event numbers.
    """
    scan = _Scan(points, await journal.sessions.initial_state(session.key), prices)
    hits: list[PastHit] = []
    seq = scanned = 0
    while scanned < SCAN and (
        rows := await journal.events.page(session.key, after=seq, limit=_PAGE)
    ):
        page = await _hits_in(journal, session, scan, rows)
        hits += [hit for hit in page if after < hit.number < (before or hit.number + 1)]
        seq, scanned = rows[-1].seq, rows[-1].number
        enough = len(hits) >= limit if before is None else scanned >= before
        if enough:
            break
    nearest = hits[:limit] if before is None else hits[-limit:]
    return Past(nearest, scanned, scanned < session.events)


async def _hits_in(
    journal: Journal, session: SessionRow, scan: _Scan, rows: Sequence[EventRow]
) -> list[PastHit]:
    """Return the hits among consecutive rows, reading only the bodies that are needed."""
    candidates = await asyncio.to_thread(scan.look, rows)
    numbers = [each.row.number for each in candidates if each.reads_body]
    bodies = await journal.events.bodies(session.key, numbers) if numbers else []
    first, last = rows[0].number, rows[-1].number
    deltas = (
        await journal.histories.deltas(session.key, first=first, last=last, keys=scan.keys)
        if scan.keys is None or scan.keys
        else {}
    )
    texts = {row.number: event.text for row, event in bodies}
    return await asyncio.to_thread(lambda: list(scan.hits(candidates, texts, deltas)))
