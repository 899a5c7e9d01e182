"""The debugger of one run: what is held at its gates, and what each command does.

Pure and synchronous: callers carry out what it decides. Its state changes only on the server's
loop, by the run's own task when something arrives, and by commands.
"""

import itertools
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from devui.debugger.guard.guard import Ruling
from devui.debugger.guard.recorded_calls import RecordedCall
from devui.debugger.stepping.arrivals import (
    WORKER_GATES,
    Arrival,
)
from devui.debugger.stepping.commands import (
    ALLOWED,
    ANYTIME,
    EDITS,
    CallOrder,
    Command,
    CommandName,
    InvalidCommand,
    Like,
    StalePosition,
    UnchangedEdit,
)
from devui.debugger.stepping.pauses import Pauses
from devui.debugger.stepping.plans import Lane, Plan, plan_of
from devui.wire.events import fields_in
from devui.wire.gates import GUARD, ORDERS, Action, WorkerGate, original
from devui.wire.spans import SpanBegan

Reason = Literal["pause", "step", "breakpoint", "guard", "behind", "stop", "problem"]
"""Why a run is held. `guard`: a tool that has run before is about to run again; `behind`: the run
reached a gate while it was held at another; `problem`: an edit could not be applied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A decision of a person or the guard to change, answer, skip, reject or drop what is held."""

    action: Action
    value: Any
    actor: str
    at: float
    effects: Mapping[str, Any] = field(default_factory=dict)
    """The actions recorded with a result, such as what the tool wrote to the state."""

    @property
    def delta(self) -> Mapping[str, Any]:
        """The state delta of an event that replaces the held one; empty for other actions."""
        actions = fields_in(fields_in(self.value).get("actions"))
        delta = fields_in(actions.get("stateDelta", actions.get("state_delta")))
        return delta if self.action == "edit" else {}


@dataclass(eq=False, slots=True, kw_only=True)
class Hold:
    """One held item: an event or call that waits at a gate until someone decides."""

    id: int
    arrival: Arrival
    reason: Reason
    breakpoint: int | None
    """The number of the breakpoint that was hit, if any."""
    since: float
    """Seconds since the epoch."""
    paused: float
    """How long the run had been held by then, in seconds."""
    edit: Edit | None = None
    """The edit to apply when it is released."""
    refused_edit: Edit | None = None
    """The edit that could not be applied, if the item is held again because of it."""
    ruling: Ruling | None = None
    """The guard's ruling, if it asks about the call."""
    last_result: Mapping[str, Any] | None = None
    """For a tool call, the result of the last such call, if any."""

    @property
    def changes(self) -> list[dict[str, Any]]:
        """The state changes of its commit, whether pending or done: those of the event or, if there
        is one, of the edit, with the code's own value as `written` where it differs."""
        arrival, edit = self.arrival, self.edit
        if edit is None or arrival.gate != "before_commit":
            return [dict(change) for change in arrival.changes]
        state = arrival.state or {}
        return [
            {
                "key": key,
                "new": new,
                **({"old": state[key]} if key in state else {}),
                **({"original": arrival.delta[key]} if _differs(arrival.delta, key, new) else {}),
            }
            for key, new in edit.delta.items()
        ]


@dataclass(frozen=True, slots=True)
class LastCommand:
    """The last command and its time."""

    command: Command | CallOrder
    at: float


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """The outcome of a command: the holds to release, or that the run is to stop.

    It goes into the run's inbox, so that the run's own task sends the answers.
    """

    released: tuple[Hold, ...] = ()
    stop: bool = False


_TAKING_BACK: frozenset[CommandName] = frozenset({"continue", "pause", "stop_after_event"})
"""Commands that mean the same just before and just after a plan is met, so that they aren't stale
if it was met in the meantime."""


class Stepper:
    """The debugger of one run."""

    def __init__(self) -> None:
        self.position = 0
        """Incremented by every command and every hold."""
        self.plan: Plan | None = None
        self.last: LastCommand | None = None
        self._commanded = 0
        """The position after the last command."""
        self._unmet: int | None = None
        """The position before the plan was met; None if something is held for another reason."""
        self.has_held = False
        """Whether anything has been held so far."""
        self._ids = itertools.count(1)
        self._holds: dict[int, Hold] = {}
        self.committing: Hold | None = None
        """The hold released for its commit, until that is done."""
        self._halted = False
        self._free: tuple[Lane, ...] = ()
        """The lanes that continue while the rest is held."""
        self.pauses = Pauses()

    @property
    def idle(self) -> bool:
        """Whether no plan or hold can stop an arrival; breakpoints and the guard still can."""
        return self.plan is None and not self._halted

    @property
    def held_seconds(self) -> float:
        """How long the run has been held in total."""
        return self.pauses.seconds

    @property
    def holds(self) -> list[Hold]:
        """The current holds, oldest first."""
        return list(self._holds.values())

    @property
    def armed(self) -> frozenset[WorkerGate]:
        """The gates at which the worker has to ask, as the plan needs them."""
        gates = self.plan.gates if self.plan else frozenset()
        return frozenset(gate for gate in WORKER_GATES if gate in gates)

    # --- arrivals --------------------------------------------------------------------------

    def weigh(
        self, arrival: Arrival, breakpoint_id: int | None = None, ruling: Ruling | None = None
    ) -> Hold | None:
        """Return a hold for `take` to begin, or None to let the arrival pass.

        `breakpoint_id` is that of a breakpoint that was hit, `ruling` the guard's question. A
        recorded result for the same arguments is the hold's edit until someone undoes it.
        """
        reason = self._reason(arrival, breakpoint_id, ruling)
        if reason is None:
            return None
        since = time.time()
        self.pauses.record_work(arrival.branch, since)
        return Hold(
            id=next(self._ids),
            arrival=arrival,
            reason=reason,
            breakpoint=breakpoint_id,
            since=since,
            paused=self.pauses.seconds,
            edit=recorded_answer(ruling.offer)
            if ruling and ruling.offer and ruling.same_args
            else None,
            ruling=ruling,
        )

    def take(self, hold: Hold) -> bool:
        """Begin the hold; return False if a command given since `weigh` lets it pass."""
        arrival = hold.arrival
        reason = self._reason(arrival, hold.breakpoint, hold.ruling)
        if reason is None:
            return False
        hold.reason = reason
        self._note_unmet(reason)
        self._halted = True
        self._free = tuple(lane for lane in self._free if not lane.has(arrival))
        self.plan = None
        self.committing = None
        self.has_held = True
        if not self._holds:
            self.pauses.begin()
        self._holds[hold.id] = hold
        self.position += 1
        return True

    def began(self, span: SpanBegan) -> None:
        """Record the start of an agent, for the pauses; other spans are ignored."""
        if span.type == "agent":
            self.pauses.began(span.branch, span.at)

    def _reason(
        self, arrival: Arrival, breakpoint_id: int | None, ruling: Ruling | None
    ) -> Reason | None:
        if arrival.problem:
            return "problem"
        plan = self.plan if self.plan is not None and self.plan.is_reached_by(arrival) else None
        if plan is not None and plan.name == "stop_after_event":
            return "stop"
        if breakpoint_id is not None:
            return "breakpoint"
        if ruling is not None:
            return "guard"
        if plan is not None:
            return "pause" if plan.name == "pause" else "step"
        free = any(lane.has(arrival) for lane in self._free)
        return "behind" if self._halted and not free else None

    def _note_unmet(self, reason: Reason) -> None:
        if reason in {"pause", "step", "stop"} and not self._holds:
            self._unmet = self.position
        elif reason != "behind":
            self._unmet = None

    def leave(self, request: int) -> bool:
        """Drop the hold of a request that was cancelled; return whether there was one."""
        ids = [hold.id for hold in self.holds if _answers(hold, request)]
        self._let_go(ids)
        return bool(ids)

    def end(self) -> None:
        """Drop all holds and the plan, since the run is over."""
        self._let_go(list(self._holds))
        self.plan, self._halted, self._free, self.committing = None, False, (), None

    # --- commands --------------------------------------------------------------------------

    def pause(self, actor: str) -> None:
        """Hold the first event, as requested by whoever started the run."""
        self._begin(Command(name="pause", key="", actor=actor))

    def run_to(self, like: Like, actor: str) -> None:
        """Hold the first arrival like this, as requested by whoever started the run."""
        self._begin(Command(name="run_to", key="", like=like, actor=actor))

    def _begin(self, command: Command) -> None:
        self.plan = plan_of(command, None)
        self.note(command)

    def note(self, order: Command | CallOrder) -> None:
        """Record an order that was carried out without changing the position."""
        self.last = LastCommand(order, time.time())

    def command(self, command: Command) -> CommandOutcome:
        """Carry out a command and return what it releases.

        Raises StalePosition if the run has moved on from the command's position, and
        InvalidCommand.
        """
        self._check(command)
        hold = self._target(command)
        outcome = self._outcome(command, hold)
        self.committing = next(filter(_commits, outcome.released), self.committing)
        self.position += 1
        self._commanded, self._unmet = self.position, None
        self.last = LastCommand(command, time.time())
        return outcome

    def hold_to_change(self, command: Command) -> Hold | None:
        """Return the hold whose value an edit or mock replaces, so that the value can be checked.

        None for other commands, and where the gate doesn't allow the command. Raises StalePosition
        if the run has moved on from the command's position, and InvalidCommand.
        """
        if command.name not in {"edit", "mock"}:
            return None
        self._check(command)
        hold = self._target(command)
        is_allowed = hold is not None and command.name in ALLOWED.get(
            hold.arrival.gate, frozenset()
        )
        return hold if is_allowed else None

    def _check(self, command: Command) -> None:
        if command.position is None and command.name not in ANYTIME:
            raise InvalidCommand(f"{command.name!r} needs the position it applies to")
        if command.position in {None, self.position} or self._apart(command):
            return
        if command.name in _TAKING_BACK and command.position == self._unmet:
            return
        by = ""
        if self.last is not None and (command.position or 0) < self._commanded:
            by = f": {self.last.command.actor} chose {ORDERS[self.last.command.name]!r}"
        raise StalePosition(
            f"the run has moved from position {command.position} to {self.position}{by}"
        )

    def _apart(self, command: Command) -> bool:
        """Whether the command names a current hold and no other command came since its position."""
        is_recent = self._commanded <= (command.position or 0) < self.position
        return is_recent and command.hold in self._holds

    def _target(self, command: Command) -> Hold | None:
        """Return the hold the command names; otherwise the first at a commit, else the oldest."""
        if command.hold is None:
            at_commit = [hold for hold in self.holds if hold.arrival.summary is not None]
            return next(iter([*at_commit, *self.holds]), None)
        if command.hold not in self._holds:
            raise InvalidCommand(f"there is no hold {command.hold}")
        return self._holds[command.hold]

    def _outcome(self, command: Command, hold: Hold | None) -> CommandOutcome:
        if command.name in EDITS or command.name == "undo":
            _edit(command, hold)
            return CommandOutcome()
        is_committed = any(hold.arrival.gate == "after_commit" for hold in self.holds)
        if command.name == "stop" or (command.name == "stop_after_event" and is_committed):
            return CommandOutcome(stop=True)
        if command.name == "pause" and self._holds:
            return CommandOutcome()
        plan = plan_of(command, hold.arrival if hold else None)
        lane = self._lane(command, hold)
        self.plan = replace(plan, lane=lane) if plan else None
        self._halted = lane is not None
        self._free = (*self._free, lane) if lane else ()
        if hold is None or (lane is None and command.name in {"continue", "stop_after_event"}):
            return CommandOutcome(tuple(self._let_go(list(self._holds))))
        return CommandOutcome(tuple(self._let_go([hold.id])))

    def _lane(self, command: Command, hold: Hold | None) -> Lane | None:
        """Return the lane that continues alone, if the command names one of several holds."""
        others = [each.arrival for each in self.holds if each is not hold]
        if hold is None or command.hold is None or not others:
            return None
        arrival = hold.arrival
        alone = all(each.branch != arrival.branch for each in others)
        return Lane(branch=arrival.branch) if alone else Lane(call=arrival.call)

    def _let_go(self, ids: list[int]) -> list[Hold]:
        if not ids:
            return []
        holds = [self._holds.pop(number) for number in ids]
        for hold in holds:
            self.pauses.let_go(hold.arrival.branch)
        if not self._holds:
            self.pauses.end()
        return holds


def recorded_answer(offer: RecordedCall) -> Edit:
    """Return an edit that answers the call with its recorded result."""
    fields = {"value": offer.result, "effects": offer.effects}
    return Edit(action="mock", actor=GUARD, at=time.time(), **fields)


def _commits(hold: Hold) -> bool:
    """Whether releasing the hold commits its event."""
    is_dropped = hold.edit is not None and hold.edit.action == "drop"
    return hold.arrival.gate == "before_commit" and not is_dropped


def _answers(hold: Hold, request: int) -> bool:
    message = hold.arrival.message
    return message is not None and message.id == request


def _edit(command: Command, hold: Hold | None) -> None:
    """Set or undo the edit of a hold; it takes effect when the hold is released."""
    if hold is None:
        raise InvalidCommand("nothing is held, so there is nothing to edit")
    if command.name == "undo":
        hold.edit = None
        return
    action, gate = EDITS[command.name], hold.arrival.gate
    if action not in ALLOWED.get(gate, frozenset()):
        actions = ", ".join(sorted(ALLOWED.get(gate, ()))) or "nothing"
        raise InvalidCommand(f"at {gate} you can use {actions}, not {action}")
    if action == "edit" and _same(command.value, original(gate, hold.arrival.payload)):
        if hold.edit is None and hold.refused_edit is None:
            raise UnchangedEdit("nothing was changed: change a value, or continue without editing")
        hold.edit = hold.refused_edit = None
        return
    edit = Edit(action=action, value=command.value, actor=command.actor, at=time.time())
    offer = hold.ruling.offer if hold.ruling and hold.ruling.same_args else None
    if offer and action == "mock" and _same(command.value, dict(offer.result)):
        edit = replace(recorded_answer(offer), actor=command.actor)
    hold.edit = edit


def _differs(delta: Mapping[str, Any], key: str, value: Any) -> bool:
    return key in delta and not _same(delta[key], value)


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; `==` would also equate 1, 1.0 and True."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
