"""Breakpoints: what they wait for, which hits count, and what a logpoint writes.

A breakpoint is a row of the journal, compiled once when it is made or read. Live runs and scans of
the past check every arrival at its gate against it.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from devui.debugger.breakpoints.kinds import KINDS, On, When
from devui.debugger.events.preview import shortened
from devui.debugger.predicates.expressions import Condition, ConditionError, compiled, like
from devui.debugger.predicates.facts import FACTS, BodyNeeded, Facts
from devui.debugger.stepping.arrivals import Arrival, GateKind
from devui.store.rows import BreakpointRow
from devui.store.summaries import KINDS as EVENT_KINDS

_HIT = re.compile(r"(==|>=|%)\s*(\d{1,9})")
_PIECE = re.compile(r"\{([^{}]*)\}")
_MAX_LOG = 2000
_IN_BODIES = frozenset(name for name, fact in FACTS.items() if fact.in_body)


class BreakpointError(ValueError):
    """An invalid breakpoint; `field` is the invalid field, `at` the character in its text."""

    def __init__(self, message: str, field: str, at: int | None = None) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.at = at


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A breakpoint as a person writes it."""

    on: On
    name: str = "*"
    """The name to match, depending on the kind: an event's kind, an agent, a tool, a state key, a
    file, an error code. `*` stands for any characters."""
    agent: str = "*"
    """The agent at work, with `*` as in `name`."""
    when: When = "before"
    """Whether it stops before or after the commit, call or agent."""
    condition: str = ""
    hit: str = ""
    """`== 3`, `>= 3` or `% 3`: which hits in one run count."""
    log: str = ""
    """The line to write instead of stopping, with values in place of `{…}`."""


class Breakpoint:
    """A compiled draft."""

    def __init__(self, draft: Draft) -> None:
        """Compile the draft. Raises BreakpointError."""
        if draft.on not in KINDS:
            raise BreakpointError(f"unknown kind {draft.on!r}; use one of {', '.join(KINDS)}", "on")
        self.draft = draft
        self.kind = KINDS[draft.on]
        self.gate: GateKind = self.kind.gates[draft.when == "after"]
        if draft.on == "event" and "*" not in draft.name and draft.name not in EVENT_KINDS:
            kinds = ", ".join(EVENT_KINDS)
            raise BreakpointError(f"unknown event kind {draft.name!r}; use one of {kinds}", "name")
        if self.kind.needs_condition and not draft.condition:
            raise BreakpointError(self.kind.needs_condition, "condition")
        self._condition = _compile(draft.condition, "condition") if draft.condition else None
        self._hit = _hit(draft.hit)
        self._log = list(_pieces(draft.log))

    @property
    def names(self) -> frozenset[str]:
        """The facts that its condition and its log line use."""
        log_names = [each.names for each in self._log if isinstance(each, Condition)]
        return frozenset().union(*log_names, self._condition.names if self._condition else ())

    @property
    def reads_body(self) -> bool:
        """Whether an event's row alone can't decide a match."""
        several = self.draft.on == "state" and "*" in self.draft.name
        return several or self.kind.needs_body or not _IN_BODIES.isdisjoint(self.names)

    @property
    def stops(self) -> bool:
        """Whether it holds the run, rather than only writing a line."""
        return not self.draft.log

    def matches(self, arrival: Arrival, facts: Facts) -> list[Facts]:
        """Return the facts that match, one for each matching state key; empty for no match."""
        draft = self.draft
        if arrival.gate != self.gate or not like(arrival.agent, draft.agent):
            return []
        if self.kind.each_change:
            changes = [each for each in arrival.changes if like(each["key"], draft.name)]
            candidates = [facts.but({"old": None, **each}) for each in changes]
        else:
            names = self.kind.names(facts, draft.when)
            candidates = [facts] if any(like(name, draft.name) for name in names) else []
        return [each for each in candidates if not self._condition or self._condition.holds(each)]

    def may_match(self, facts: Facts, *, first: bool) -> bool:
        """Whether an event may be a hit, by its row; `first`: its agent's first event of a run."""
        if self.kind.once:
            return True  # an event that doesn't match makes the next match a hit again
        if not like(facts.author, self.draft.agent):
            return False
        if self.kind.in_past != "named":
            return facts.author != "user" and (first or self.kind.in_past == "every")
        return _names_match(self.draft, facts) is not False

    def counts(self, times: int) -> bool:
        """Whether the hit with this number, from 1 in each run, counts."""
        if self._hit is None:
            return True
        sign, number = self._hit
        if sign == "%":
            return times % number == 0
        return times == number if sign == "==" else times >= number

    def message(self, hits: Iterable[Facts]) -> str:
        """Return the line of a logpoint; several keys of one event share a line."""
        return shortened("; ".join(map(self._message, hits)), _MAX_LOG)

    def _message(self, facts: Facts) -> str:
        pieces = (
            each if isinstance(each, str) else _as_text(each.value(facts)) for each in self._log
        )
        return "".join(pieces)


@dataclass(frozen=True, slots=True)
class StoredBreakpoint:
    """A breakpoint in the journal, compiled."""

    row: BreakpointRow
    breakpoint: Breakpoint


def marks(draft: Draft, facts: Facts) -> bool:
    """Whether the gutter marks the event, judging by its row and ignoring the condition."""
    is_marked = KINDS[draft.on].marks_events and like(facts.author, draft.agent)
    return is_marked and _names_match(draft, facts) is True


def _names_match(draft: Draft, facts: Facts) -> bool | None:
    """Whether the name matches; None if only the event's body can tell."""
    rest: bool | None = False
    try:
        names = KINDS[draft.on].names(facts, draft.when)
    except BodyNeeded as error:
        names, rest = [*error.part], None
    return any(like(name, draft.name) for name in names) or rest


def _compile(text: str, field: str, offset: int = 0) -> Condition:
    try:
        return compiled(text)
    except ConditionError as error:
        problem = error.offset_by(offset)
        raise BreakpointError(str(problem), field, problem.at) from error


def _hit(text: str) -> tuple[str, int] | None:
    if not text.strip():
        return None
    match = _HIT.fullmatch(text.strip())
    if match is None or int(match[2]) == 0:
        raise BreakpointError("enter == 3, >= 3 or % 3, with a number of at least 1", "hit")
    return match[1], int(match[2])


def _pieces(template: str) -> Iterator[str | Condition]:
    at = 0
    for match in _PIECE.finditer(template):
        yield _plain(template, at, match.start())
        yield _compile(match[1], "log", match.start(1))
        at = match.end()
    yield _plain(template, at, len(template))


def _plain(template: str, start: int, end: int) -> str:
    """Return the text between two `{…}`. Raises BreakpointError for an unmatched brace."""
    brace = template.find("{", start, end)
    if brace >= 0:
        raise BreakpointError(f"column {brace + 1}: unmatched '{{'", "log", brace)
    return template[start:end]


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)


LINES = 1000
"""How many lines one logpoint may write in one run."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A breakpoint that was hit."""

    point: StoredBreakpoint
    line: str | None
    """The line of a logpoint; None if the breakpoint stops, or has written `LINES` lines."""

    @property
    def stops(self) -> bool:
        """Whether it holds the run."""
        return self.point.breakpoint.stops


class Watch:
    """The hits of one run so far."""

    def __init__(self) -> None:
        self._hits: Counter[int] = Counter()
        self._true: set[int] = set()
        """The breakpoints of `once` kinds whose condition was true at the last check."""

    def check(
        self, breakpoints: Iterable[StoredBreakpoint], arrival: Arrival, facts: Facts
    ) -> list[Hit]:
        """Return the hits of this arrival."""
        hits = []
        for each in breakpoints:
            number, point = each.row.id, each.breakpoint
            matching = point.matches(arrival, facts)
            if not matching:
                if arrival.gate == point.gate:
                    self._true.discard(number)
                continue
            if point.kind.once:
                if number in self._true:
                    continue
                self._true.add(number)
            self._hits[number] += 1
            if point.counts(self._hits[number]):
                hits.append(Hit(each, self._line(each, matching)))
        return hits

    def _line(self, point: StoredBreakpoint, matching: list[Facts]) -> str | None:
        times = self._hits[point.row.id]
        if point.breakpoint.stops or times > LINES:
            return None
        last = "  (last line: this logpoint has reached its limit)" if times == LINES else ""
        return point.breakpoint.message(matching) + last
