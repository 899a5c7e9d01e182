"""Breakpoints: what they wait for, when they count, and what they say.

A breakpoint is a row of the journal, compiled once when it is made or read. It is asked about every
arrival at its gate, live and in the past alike.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from devui.debugger.breakpoints.condition_words import ConditionError
from devui.debugger.breakpoints.conditions import Condition, Facts, compiled, like
from devui.debugger.preview import shortened
from devui.debugger.stepping.arrivals import Arrival, GateKind
from devui.debugger.summary import KINDS, Summary
from devui.store.rows import BreakpointRow

On = Literal[
    "event",
    "agent",
    "tool",
    "model",
    "state",
    "artifact",
    "transfer",
    "escalate",
    "final",
    "error",
    "human",
    "budget",
]
When = Literal["before", "after"]

_GATES: Mapping[str, tuple[GateKind, GateKind]] = {
    "agent": ("enter_agent", "leave_agent"),
    "tool": ("before_tool", "after_tool"),
    "model": ("before_model", "after_model"),
}
_COMMIT: tuple[GateKind, GateKind] = ("before_commit", "after_commit")
_HIT = re.compile(r"(==|>=|%)\s*(\d{1,9})")
_PIECE = re.compile(r"\{([^{}]*)\}")
_MAX_LOG = 2000
_IN_BODIES = frozenset({"held", "delta", "tool", "tools", "args", "result"})
"""Facts that only an event's body tells."""


class BreakpointError(ValueError):
    """A breakpoint that cannot be; `field` is what is wrong with it, `at` the place in its text."""

    def __init__(self, message: str, field: str, at: int | None = None) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.at = at


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a person says of a breakpoint."""

    on: On
    name: str = "*"
    """Of what: an event's kind, an agent, a tool, a state key, a file, who takes over, an error
    code. `*` stands for anything."""
    agent: str = "*"
    """Whose."""
    when: When = "before"
    """Before or after: the commit, the call, the agent."""
    condition: str = ""
    hit: str = ""
    """`== 3`, `>= 3` or `% 3`: which of the times in one run count."""
    log: str = ""
    """Say this, with the values of `{…}`, and do not stop."""


class Breakpoint:
    """A compiled draft."""

    def __init__(self, draft: Draft) -> None:
        """Compile; raises BreakpointError."""
        self.draft = draft
        self.gate: GateKind = _GATES.get(draft.on, _COMMIT)[draft.when == "after"]
        if draft.on == "event" and "*" not in draft.name and draft.name not in KINDS:
            raise BreakpointError(f"no kind {draft.name!r}; there are {', '.join(KINDS)}", "name")
        if draft.on == "budget" and not draft.condition:
            raise BreakpointError("say how much, such as `run.tokens > 1000`", "condition")
        self._condition = _compiled(draft.condition, "condition") if draft.condition else None
        self._hit = _hit(draft.hit)
        self._log = list(_pieces(draft.log))

    @property
    def names(self) -> frozenset[str]:
        """The facts that it speaks of."""
        told = [each.names for each in self._log if isinstance(each, Condition)]
        return frozenset().union(*told, self._condition.names if self._condition else ())

    @property
    def reads_body(self) -> bool:
        """Whether the row of an event does not tell all that it asks of one that it may meet."""
        draft = self.draft
        several = draft.on == "state" and "*" in draft.name
        return several or draft.on in {"tool", "model"} or not _IN_BODIES.isdisjoint(self.names)

    @property
    def stops(self) -> bool:
        """Whether it holds the run, rather than only saying something."""
        return not self.draft.log

    def matches(self, arrival: Arrival, facts: Facts) -> list[Facts]:
        """The facts for which it holds, for each key that matches; none for no match."""
        draft = self.draft
        if arrival.gate != self.gate or not like(arrival.agent, draft.agent):
            return []
        known = ({**facts, **more} for more in _candidates(draft, arrival))
        return [each for each in known if not self._condition or self._condition.holds(each)]

    def may_meet(self, author: str, summary: Summary, *, first: bool) -> bool:
        """Whether an event may be met, by its row; `first`: it is its agent's first of the run.

        A budget looks at each: it is told once more when it was kept to in between.
        """
        draft = self.draft
        if draft.on == "budget":
            return True
        if not like(author, draft.agent):
            return False
        if draft.on == "agent":
            enters = first and author != "user" and self.gate == "enter_agent"
            return enters and like(author, draft.name)
        if draft.on == "model":
            return author != "user"
        some = draft.on == "state" and summary.state_count > len(summary.state_keys)
        return some or any(like(each, draft.name) for each in _told(draft, author, summary))

    def counts(self, times: int) -> bool:
        """Whether this time, counted from 1 in each run, is one that it is meant for."""
        if self._hit is None:
            return True
        sign, number = self._hit
        if sign == "%":
            return times % number == 0
        return times == number if sign == "==" else times >= number

    def says(self, met: Iterable[Facts]) -> str:
        """The log message for what was met, of which there may be several: keys of one event."""
        return shortened("; ".join(map(self._message, met)), _MAX_LOG)

    def _message(self, facts: Facts) -> str:
        told = (each if isinstance(each, str) else _shown(each.value(facts)) for each in self._log)
        return "".join(told)


@dataclass(frozen=True, slots=True)
class Known:
    """A breakpoint of the journal."""

    row: BreakpointRow
    breakpoint: Breakpoint


def _candidates(draft: Draft, arrival: Arrival) -> Iterator[Facts]:
    """Each thing of the arrival that the draft is about, as facts of its own."""
    if draft.on == "state":
        for change in arrival.changes:
            if like(change["key"], draft.name):
                yield {"key": change["key"], "old": change.get("old"), "new": change["new"]}
    elif any(like(each, draft.name) for each in _names(draft.on, arrival)):
        yield {}


def _names(on: On, arrival: Arrival) -> list[str]:
    """The names that the arrival has of what a breakpoint is on."""
    if on == "tool":
        return [arrival.tool or ""]
    if on == "agent":
        return [arrival.agent]
    if on == "model":
        held = arrival.held if isinstance(arrival.held, Mapping) else {}
        return [str(held.get("model") or held.get("modelVersion") or "")]
    if arrival.summary is None or (on == "final" and arrival.agent == "user"):
        return []
    return _OF_EVENT[on](arrival.summary)


_OF_EVENT: Mapping[str, Callable[[Summary], list[str]]] = {
    "event": lambda summary: [summary.kind],
    "artifact": lambda summary: list(summary.artifacts),
    "transfer": lambda summary: [summary.transfer_to] if summary.transfer_to else [],
    "escalate": lambda summary: [""] if summary.escalate else [],
    # A checkpoint, which a resumable app records at the end of an agent, answers nobody.
    "final": lambda summary: [""] if summary.final and summary.kind != "checkpoint" else [],
    "error": lambda summary: [summary.error_code or ""] if summary.kind == "error" else [],
    # The event behind the question, which stands in for the call's result, asks nothing more.
    "human": lambda summary: [""] if summary.kind == "human" and not summary.responses else [],
    "budget": lambda _: [""],
}
"""What a breakpoint's name is compared with; nothing where it waits for nothing named."""


def is_about(draft: Draft, author: str, summary: Summary) -> bool:
    """Whether the event is of the sort that is waited for, whatever the condition says.

    That is where a breakpoint sits in the gutter. Agents that begin, and budgets, are no events.
    """
    if draft.on in {"agent", "budget"} or not like(author, draft.agent):
        return False
    return any(like(each, draft.name) for each in _told(draft, author, summary))


def _told(draft: Draft, author: str, summary: Summary) -> list[str]:
    """The names that an event's summary has of what a breakpoint is on."""
    match draft.on:
        case "tool" if draft.when == "before":
            return [call.name for call in summary.calls]
        case "tool":
            return [response.name for response in summary.responses]
        case "state":
            return list(summary.state_keys)
        case "model":
            return [summary.usage.model] if summary.usage else []
        case "final" if author == "user":
            return []
        case _:
            return _OF_EVENT[draft.on](summary)


def _compiled(text: str, field: str, offset: int = 0) -> Condition:
    try:
        return compiled(text)
    except ConditionError as error:
        placed = error.moved(offset)
        raise BreakpointError(str(placed), field, placed.at) from error


def _hit(text: str) -> tuple[str, int] | None:
    if not text.strip():
        return None
    match = _HIT.fullmatch(text.strip())
    if match is None or int(match[2]) == 0:
        raise BreakpointError("write == 3, >= 3 or % 3, with a number from 1", "hit")
    return match[1], int(match[2])


def _pieces(template: str) -> Iterator[str | Condition]:
    at = 0
    for match in _PIECE.finditer(template):
        yield _plain(template, at, match.start())
        yield _compiled(match[1], "log", match.start(1))
        at = match.end()
    yield _plain(template, at, len(template))


def _plain(template: str, start: int, end: int) -> str:
    """What stands between the braces; one that opens here is closed nowhere."""
    lost = template.find("{", start, end)
    if lost >= 0:
        raise BreakpointError(f"column {lost + 1}: this {{ is not closed", "log", lost)
    return template[start:end]


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
