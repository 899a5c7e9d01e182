"""What a person may tell a run that is being debugged, and why it may be refused."""

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
"""Commands that change what is held, and let nothing go."""

ALLOWED: Mapping[GateKind, frozenset[Action]] = {
    "before_commit": frozenset({"edit", "drop"}),
    "before_model": frozenset({"edit", "mock"}),
    "after_model": frozenset({"edit"}),
    "before_tool": frozenset({"edit", "mock", "skip", "reject"}),
    "after_tool": frozenset({"edit"}),
}
"""What may be done to what is held at each gate; at the others, nothing."""

ANYTIME: frozenset[CommandName] = frozenset({"pause", "stop_after_event", "stop"})
"""Commands that mean the same wherever the run stands; the others name a position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Like:
    """Which arrivals `run_to` waits for."""

    gate: GateKind = "before_commit"
    condition: str
    """What has to hold of them; it may speak of what a row says of an event, and not of `state` and
    `run`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One order. The same `key` again changes nothing and gets the same answer."""

    name: CommandName
    key: str
    position: int | None = None
    """The position that it was decided upon; may be left out of commands `ANYTIME`."""
    hold: int | None = None
    """Which of the holds goes on, alone; if not said, a step is made from the one at the commit,
    else from the oldest, and `continue` lets all go."""
    like: Like | None = None
    """For `run_to`."""
    value: Any = None
    """For `edit` what takes the place of what is held, for `mock` the answer, for `reject` why."""
    actor: str = "api"
    """Who says so, as shown to the others."""

    def __str__(self) -> str:
        return f"{ORDERS[self.name]} by {self.actor}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOrder:
    """An order about one call that is under way; nothing need be held for it."""

    name: Literal["end", "answer"]
    """Let it fail, or have this answer."""
    key: str
    """As of a command."""
    call: int | str
    """The `CallStanding.id`, which says what the order was decided upon; or the id or the name of
    the only call that has it."""
    value: Any = None
    """For `answer` the answer, for `end` why, if there is more to say."""
    actor: str = "api"


class CommandRefused(Exception):
    """The command was not carried out; `position` tells how things stand, as JSON."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.position: dict[str, Any] = {}

    def at(self, position: dict[str, Any]) -> Self:
        """The same, with how things stand."""
        self.position = position
        return self


class Stale(CommandRefused):
    """The run has moved on since the position that the command names."""


class Misused(CommandRefused):
    """The command makes no sense here: its key is another's, or what it names is not there."""


class Unfit(Misused):
    """A value that can't take the place of what is held."""


class Unchanged(Unfit):
    """An edit to what is held already."""
