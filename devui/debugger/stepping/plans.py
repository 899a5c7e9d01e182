"""Where a run stops next: what the orders plan, which arrivals meet a plan, what goes on alone."""

from dataclasses import dataclass

from devui.debugger.predicates.expressions import Condition, ConditionError, compiled
from devui.debugger.stepping.arrivals import ALL_GATES, Arrival, GateKind
from devui.debugger.stepping.commands import Command, CommandName, Misused


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A branch with those below it, or a call with its return; of neither, nothing."""

    branch: str | None = None
    call: str | None = None

    def has(self, arrival: Arrival) -> bool:
        """Whether what came is of it."""
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
        """Whether this is the place."""
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
"""The gates at which orders stop that name no call or agent."""
_OTHER_SIDE: dict[GateKind, GateKind] = {
    "before_model": "after_model",
    "before_tool": "after_tool",
}


def plan_of(command: Command, arrival: Arrival | None) -> Plan | None:
    """What a command plans, `arrival` being what it was decided upon. Raises Misused."""
    if command.name == "continue":
        return None
    if command.name == "step_out":
        return _out_of(arrival)
    if command.name != "run_to":
        return Plan(name=command.name, gates=PLANS[command.name])
    if command.like is None:
        raise Misused("'run_to' needs `like`: the event to run to")
    try:
        like = compiled(command.like.condition)
    except ConditionError as error:
        raise Misused(f"`like`: {error}") from error
    return Plan(name="run_to", gates=frozenset({command.like.gate}), like=like)


def _out_of(arrival: Arrival | None) -> Plan | None:
    """To the return of the call that is held, or of the agent; from the root's, to the end."""
    if arrival is None:
        raise Misused("nothing is held, so there is nothing to step out of")
    if arrival.gate in _OTHER_SIDE:
        gates = frozenset({_OTHER_SIDE[arrival.gate]})
        return Plan(name="step_out", gates=gates, call=arrival.call)
    path = arrival.path[:-1] if arrival.gate == "leave_agent" else arrival.path
    return Plan(name="step_out", gates=frozenset({"leave_agent"}), agent=path[-1]) if path else None
