"""The kinds of breakpoints: what each one waits for, at which gates, and what its name matches.

To add a kind, add its row to `KINDS` and its sentence to docs/guide/debugging.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from devui.debugger.predicates.expressions import Condition, compiled
from devui.debugger.predicates.facts import Facts
from devui.debugger.stepping.arrivals import GateKind

When = Literal["before", "after"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakpointKind:
    """One row of the table."""

    label: str
    """Its name in the list of a form."""
    phrase: str
    """The beginning of a description, such as `tool` in `tool find_airports in TravelAgent`."""
    gates: tuple[GateKind, GateKind] = ("before_commit", "after_commit")
    """The gates for stopping before and after."""
    where: Condition | None = None
    """A condition that the event, or what is held, has to meet, if any."""
    name: str | tuple[str, str] = ""
    """The fact that the breakpoint's name is compared with, or two: one for before, one for after.
    "" if there are no names."""
    each_change: bool = False
    """Whether every matching state key is a match of its own, with its own facts."""
    needs_body: bool = False
    """Whether an event's row alone can never decide a match."""
    needs_condition: str = ""
    """Why it needs a condition; empty if it doesn't."""
    once: bool = False
    """Whether it hits only when its condition becomes true, not while it stays true."""
    marks_events: bool = True
    """Whether it shows in the timeline's gutter."""
    in_past: Literal["named", "every", "first"] = "named"
    """The events that stand for its gates in the past: those whose name matches, every event of an
    agent, or the first one of each agent in a run."""

    def names(self, facts: Facts, when: When) -> list[str]:
        """Return what the breakpoint's name is compared with; empty for no match.

        Raises BodyNeeded.
        """
        if self.where is not None and not self.where.holds(facts):
            return []
        name = self.name if isinstance(self.name, str) else self.name[when == "after"]
        value = facts.get(name) if name else ""
        return value if isinstance(value, list) else [value or ""]


KINDS: Final[Mapping[str, BreakpointKind]] = {
    "tool": BreakpointKind(
        label="tool call",
        phrase="tool",
        gates=("before_tool", "after_tool"),
        name=("calls", "responses"),
        needs_body=True,
    ),
    "event": BreakpointKind(label="event of a kind", phrase="event", name="kind"),
    "state": BreakpointKind(
        label="state key written",
        phrase="state key",
        name="keys",
        each_change=True,
    ),
    "model": BreakpointKind(
        label="model call",
        phrase="model",
        gates=("before_model", "after_model"),
        where=compiled("exists(model)"),
        name="model",
        needs_body=True,
        in_past="every",
    ),
    "agent": BreakpointKind(
        label="agent start or end",
        phrase="agent",
        gates=("enter_agent", "leave_agent"),
        name="agent",
        marks_events=False,
        in_past="first",
    ),
    "transfer": BreakpointKind(
        label="transfer to an agent",
        phrase="transfer to",
        where=compiled("transfer"),
        name="transfer",
    ),
    "artifact": BreakpointKind(label="artifact saved", phrase="artifact", name="artifacts"),
    "final": BreakpointKind(
        label="final response",
        phrase="final response",
        # A checkpoint, which a resumable app records at the end of an agent, isn't a response.
        where=compiled('final and kind != "checkpoint"'),
    ),
    "human": BreakpointKind(
        label="question to a person",
        phrase="question to a person",
        # The event after the question, which stands in for the call's result, asks nothing more.
        where=compiled('kind == "human" and not responses'),
    ),
    "escalate": BreakpointKind(label="escalation", phrase="escalation", where=compiled("escalate")),
    "error": BreakpointKind(
        label="error", phrase="error", where=compiled('kind == "error"'), name="error"
    ),
    "budget": BreakpointKind(
        label="limit reached",
        phrase="budget",
        needs_condition="enter a limit, such as `run.tokens > 1000`",
        once=True,
        marks_events=False,
    ),
}
"""All kinds, the most used first."""

if TYPE_CHECKING:
    On = str
else:
    On = Literal[tuple(KINDS)]
"""A kind by its word; requests are checked against the table."""
