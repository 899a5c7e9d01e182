"""Goes through a session's events and finds where breakpoints would have been met."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from devui.debugger.breakpoints.breakpoints import Breakpoint, Known
from devui.debugger.breakpoints.facts import Meter, calls_of, facts_of, responses_of
from devui.debugger.breakpoints.watching import Hit, Watch
from devui.debugger.prices import Prices
from devui.debugger.stepping.arrivals import Arrival
from devui.debugger.summary import Summary
from devui.store.rows import BreakpointRow, EventRow, Json
from devui.store.values import parsed

_NO_ROW = BreakpointRow(0, "", 0, enabled=True, hits=0, data="")


@dataclass(frozen=True, slots=True)
class PastHit:
    """An event at which the breakpoint would have been met."""

    number: int
    seq: int
    text: str
    """What the logpoint would have said, else the event in one line."""


@dataclass(slots=True)
class _Run:
    """What is known of one run of the past."""

    began: float
    meter: Meter
    watch: Watch = field(default_factory=Watch)
    agents: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Seen:
    """An event by its row."""

    row: EventRow
    summary: Summary
    points: Sequence[Known]
    """Those that it may meet."""
    reads_body: bool


class _State:
    """As the session's events made it; what they wrote is parsed when somebody asks."""

    def __init__(self, initial: Mapping[str, Json]) -> None:
        self._values = dict(initial)
        self._texts: dict[str, str] = {}

    def write(self, texts: Mapping[str, str]) -> None:
        self._texts |= texts

    def all(self) -> Mapping[str, Json]:
        """All of it, until the next write."""
        self._values |= {key: parsed(text) for key, text in self._texts.items()}
        self._texts.clear()
        return self._values

    def old(self, key: str) -> dict[str, Json]:
        """The value of a key as `old` of a change; nothing if it is not there."""
        if key in self._texts:
            self._values[key] = parsed(self._texts.pop(key))
        return {"old": self._values[key]} if key in self._values else {}


class Scan:
    """What was come to: the state, and of each run what it had used and how often it was met."""

    def __init__(
        self, points: Sequence[Breakpoint], state: Mapping[str, Json], prices: Prices
    ) -> None:
        rows = (replace(_NO_ROW, id=number) for number in range(len(points)))
        self._points = [Known(row, point) for row, point in zip(rows, points, strict=True)]
        self._state = _State(state)
        self._prices = prices
        self._runs: dict[str, _Run] = {}
        self._meters = any("run" in point.names for point in points)
        names = {point.draft.name for point in points if point.draft.on == "state"}
        every = any("*" in name for name in names) or any("state" in each.names for each in points)
        self.keys: frozenset[str] | None = None if every else frozenset(names)
        """The state keys whose writes have to be known; None: all."""

    def look(self, rows: Sequence[EventRow]) -> list[Seen]:
        """Which of the points the next events may meet."""
        return [self._look(row) for row in rows]

    def _look(self, row: EventRow) -> Seen:
        summary, run = Summary.from_json(row.summary), self._run(row)
        first = row.author not in run.agents
        run.agents.add(row.author)
        points = [
            known
            for known in self._points
            if known.breakpoint.may_meet(row.author, summary, first=first)
        ]
        reads = any(known.breakpoint.reads_body for known in points)
        return Seen(row, summary, points, reads or (self._meters and row.kind == "call"))

    def hits(
        self,
        seen: Sequence[Seen],
        bodies: Mapping[int, str],
        written: Mapping[int, Mapping[str, str]],
    ) -> Iterator[PastHit]:
        """Which of them are met, given the bodies that are needed and the state that was written,
        as JSON texts by the events' numbers."""
        for each in seen:
            number = each.row.number
            held = json.loads(bodies.get(number, "{}"), parse_constant=str)
            if self._meters:
                self._count(each, held)
            hits = [*self._met(each, held, written.get(number, {}))]
            if hits:
                hit = min(hits, key=lambda hit: hit.known.row.id)
                yield PastHit(number, each.row.seq, hit.says or each.summary.text)

    def _count(self, seen: Seen, held: Mapping[str, Any]) -> None:
        meter, summary = self._run(seen.row).meter, seen.summary
        meter.count(tokens=summary.tokens or 0, usage=summary.usage, size=seen.row.size)
        if seen.row.kind == "call":
            meter.call(calls_of(held))

    def _met(
        self, seen: Seen, held: Mapping[str, Any], written: Mapping[str, str]
    ) -> Iterator[Hit]:
        """Before the commit of an event and after it."""
        arrival = self._arrival(seen, held, written) if seen.points else None
        points: dict[bool, list[Known]] = {False: [], True: []}
        for each in seen.points:
            points[each.breakpoint.gate == "after_commit"].append(each)
        if arrival is not None:
            yield from self._check(points[False], seen.row, arrival)
        self._state.write(written)
        if arrival is not None:
            yield from self._check(points[True], seen.row, arrival)

    def _check(self, points: Iterable[Known], row: EventRow, arrival: Arrival) -> Iterator[Hit]:
        run = self._run(row)
        used = run.meter.facts(row.timestamp - run.began) if self._meters else {}
        for point in points:
            state = self._state.all() if "state" in point.breakpoint.names else {}
            for each in _arrivals(arrival, point.breakpoint.gate):
                yield from run.watch.check([point], each, facts_of(each, state, used))

    def _run(self, row: EventRow) -> _Run:
        name = row.run or row.invocation_id
        run = self._runs.get(name)
        if run is None:
            run = self._runs[name] = _Run(row.timestamp, Meter(self._prices))
        return run

    def _arrival(self, seen: Seen, held: Mapping[str, Any], written: Mapping[str, str]) -> Arrival:
        row = seen.row
        arrival = Arrival(
            gate="before_commit",
            agent=row.author,
            branch=row.branch,
            path=(row.author,),
            held=held,
            message=None,
            summary=seen.summary,
        )
        changed = [key for key in arrival.delta or written if key in written]
        changes = [
            {"key": key, "new": parsed(written[key]), **self._state.old(key)} for key in changed
        ]
        return replace(arrival, changes=tuple(changes))


def _arrivals(arrival: Arrival, gate: str) -> Iterator[Arrival]:
    """What came to a gate of this kind when the event was made."""
    by_model = (
        arrival.agent != "user" and (arrival.held.get("content") or {}).get("role") == "model"
    )
    match gate:
        case "before_commit" | "enter_agent":
            yield replace(arrival, gate=gate)
        case "after_commit":
            yield replace(arrival, gate="after_commit")
        case "before_tool":
            for call in calls_of(arrival.held):
                yield replace(arrival, gate="before_tool", tool=str(call["name"]), held=call)
        case "after_tool":
            for given in responses_of(arrival.held):
                held = {"name": given.get("name"), "result": given.get("response")}
                yield replace(arrival, gate="after_tool", tool=str(given.get("name")), held=held)
        case "before_model" | "after_model" if by_model:
            yield replace(arrival, gate=gate)
