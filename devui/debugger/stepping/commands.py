"""The commands a person can give to a run, and the errors that refuse them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from devui.debugger.stepping.arrivals import GateKind
from devui.wire.gates import ORDERS, Action

CommandName = Literal[
    "continue",
    "pause",
    "step_event",
    "step_half",
    "step_into",
    "step_out",
    "run_to",
    "stop_after_event",
    "stop",
    "edit",
    "mock",
    "skip",
    "reject",
    "drop",
    "undo",
]

EDITS: Mapping[CommandName, Action] = {
    "edit": "edit",
    "mock": "mock",
    "skip": "skip",
    "reject": "reject",
    "drop": "drop",
}
"""The commands that edit what is held, without releasing it."""

ALLOWED: Mapping[GateKind, frozenset[Action]] = {
    "before_commit": frozenset({"edit", "drop"}),
    "before_model": frozenset({"edit", "mock"}),
    "after_model": frozenset({"edit"}),
    "before_tool": frozenset({"edit", "mock", "skip", "reject"}),
    "after_tool": frozenset({"edit"}),
}
"""The edits allowed at each gate; the other gates allow none."""

ANYTIME: frozenset[CommandName] = frozenset({"pause", "stop_after_event", "stop"})
"""The commands that mean the same at any position; all others have to name theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Like:
    """The kind of arrival that `run_to` waits for."""

    gate: GateKind = "before_commit"
    condition: str
    """An expression that has to hold for the arrival. It can use the facts of an event's row, but
    not `state` and `run`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command to a run. Repeating its `key` changes nothing and returns the same answer."""

    name: CommandName
    key: str
    position: int | None = None
    """The position at which it was decided; optional for the commands in `ANYTIME`."""
    hold: int | None = None
    """The hold to edit, or to release alone. If None, the command applies to the hold at a commit,
    else to the oldest, and `continue` releases all."""
    like: Like | None = None
    """For `run_to`."""
    value: Any = None
    """For `edit` the replacement, for `mock` the answer, for `reject` the reason."""
    actor: str = "api"
    """Who gives the command, as shown to others."""

    def __str__(self) -> str:
        return f"{ORDERS[self.name]} by {self.actor}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOrder:
    """An order to end or answer one call in progress, whether or not anything is held."""

    name: Literal["end", "answer"]
    """`end` makes the call fail, `answer` gives it a result."""
    key: str
    """As in `Command`."""
    call: int | str
    """The `InspectedCall.id` of the call as it was seen, or the id or name of a function call, if
    only one call in progress has it."""
    value: Any = None
    """For `answer` the answer, for `end` an optional reason."""
    actor: str = "api"


class CommandRefused(Exception):
    """The command was not carried out; `position` is where the run stands now, as JSON."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.position: dict[str, Any] = {}

    def at(self, position: dict[str, Any]) -> Self:
        """Set the position, and return the error."""
        self.position = position
        return self


class StalePosition(CommandRefused):
    """The run has moved on from the position that the command names."""


class InvalidCommand(CommandRefused):
    """The command makes no sense here, reuses another key, or names something that isn't there."""


class InvalidEdit(InvalidCommand):
    """A value that can't replace what is held."""


class UnchangedEdit(InvalidEdit):
    """An edit that changes nothing."""
