"""Where a run stops next: the plans of commands, and the lanes that continue alone."""

from dataclasses import dataclass

from devui.debugger.predicates.expressions import Condition, ConditionError, compiled
from devui.debugger.stepping.arrivals import ALL_GATES, Arrival, GateKind
from devui.debugger.stepping.commands import Command, CommandName, InvalidCommand


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A branch and those below it, or one call and its return. Without either, it is empty."""

    branch: str | None = None
    call: str | None = None

    def has(self, arrival: Arrival) -> bool:
        """Whether the arrival belongs to the lane."""
        if self.branch is not None:
            return f"{arrival.branch}.".startswith(f"{self.branch}.")
        return self.call is not None and arrival.call == self.call


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Where the run stops next."""

    name: CommandName
    gates: frozenset[GateKind]
    agent: str | None = None
    call: str | None = None
    like: Condition | None = None
    lane: Lane | None = None

    def is_reached_by(self, arrival: Arrival) -> bool:
        """Whether the run stops at this arrival."""
        if arrival.gate not in self.gates or (self.lane and not self.lane.has(arrival)):
            return False
        if self.call is not None and arrival.call != self.call:
            return False
        if self.agent not in {None, arrival.agent}:
            return False
        return self.like is None or self.like.holds(arrival.facts())


PLANS: dict[CommandName, frozenset[GateKind]] = {
    "pause": frozenset({"before_commit"}),
    "step_event": frozenset({"after_commit"}),
    "step_half": frozenset({"before_commit", "after_commit"}),
    "step_into": ALL_GATES,
    "stop_after_event": frozenset({"after_commit"}),
}
"""The gates where a run stops after commands that name no call, agent or condition."""
_OTHER_SIDE: dict[GateKind, GateKind] = {
    "before_model": "after_model",
    "before_tool": "after_tool",
}


def plan_of(command: Command, arrival: Arrival | None) -> Plan | None:
    """Return the plan that a command makes, if any; `arrival` is the held one it applies to.

    Raises InvalidCommand.
    """
    if command.name == "continue":
        return None
    if command.name == "step_out":
        return _out_of(arrival)
    if command.name != "run_to":
        return Plan(name=command.name, gates=PLANS[command.name])
    if command.like is None:
        raise InvalidCommand("'run_to' needs `like`: the event to run to")
    try:
        like = compiled(command.like.condition)
    except ConditionError as error:
        raise InvalidCommand(f"`like`: {error}") from error
    return Plan(name="run_to", gates=frozenset({command.like.gate}), like=like)


def _out_of(arrival: Arrival | None) -> Plan | None:
    """Plan a stop where the held call or agent returns; None if the root agent is leaving."""
    if arrival is None:
        raise InvalidCommand("nothing is held, so there is nothing to step out of")
    if arrival.gate in _OTHER_SIDE:
        gates = frozenset({_OTHER_SIDE[arrival.gate]})
        return Plan(name="step_out", gates=gates, call=arrival.call)
    path = arrival.path[:-1] if arrival.gate == "leave_agent" else arrival.path
    return Plan(name="step_out", gates=frozenset({"leave_agent"}), agent=path[-1]) if path else None
