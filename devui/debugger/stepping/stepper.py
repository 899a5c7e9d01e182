"""Whether a run is held at a gate, and how it goes on: the state of one run's debugger.

Pure and synchronous: who calls it carries out what it decides. Everything of it is changed on the
server's loop, by the run's own task when something arrives and by commands.
"""

import itertools
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from devui.debugger.guard.guard import Ruling
from devui.debugger.guard.recorded import RecordedCall
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
    Like,
    Misused,
    Stale,
    Unchanged,
)
from devui.debugger.stepping.pauses import Pauses
from devui.debugger.stepping.plans import Lane, Plan, plan_of
from devui.wire.events import fields_in
from devui.wire.gates import GUARD, ORDERS, Action, WorkerGate, original
from devui.wire.spans import SpanBegan

Reason = Literal["pause", "step", "breakpoint", "guard", "behind", "stop", "problem"]
"""Why a run is held; `guard`: a tool is about to run that has run before; `behind`: it came to a
gate while it was held at another; `problem`: what a person wanted in place of what is held cannot
be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What a person wants in place of what is held."""

    action: Action
    value: Any
    actor: str
    at: float
    effects: Mapping[str, Any] = field(default_factory=dict)
    """The actions that come with a recorded result: what the tool wrote to the state, say."""

    @property
    def delta(self) -> Mapping[str, Any]:
        """The state delta of an event that takes the place of the held one."""
        actions = fields_in(fields_in(self.value).get("actions"))
        delta = fields_in(actions.get("stateDelta", actions.get("state_delta")))
        return delta if self.action == "edit" else {}


@dataclass(eq=False, slots=True, kw_only=True)
class Hold:
    """One thing that is held."""

    id: int
    arrival: Arrival
    reason: Reason
    breakpoint: int | None
    """The number of the breakpoint that was met here."""
    since: float
    """Seconds since the epoch."""
    paused: float
    """For how many seconds the run had been held by then."""
    edit: Edit | None = None
    """What is to be done to it when it is let go."""
    refused_edit: Edit | None = None
    """What could not be done to it before, for which reason it is held again."""
    ruling: Ruling | None = None
    """What the guard says of it."""
    last_result: Mapping[str, Any] | None = None
    """Of a tool call: what the tool returned the last time, if it did."""

    @property
    def changes(self) -> list[dict[str, Any]]:
        """What its commit will do to the state, or has done: those of the event, or of what takes
        its place, with what the code wrote there as `written`."""
        arrival, edit = self.arrival, self.edit
        if edit is None or arrival.gate != "before_commit":
            return [dict(change) for change in arrival.changes]
        state = arrival.state or {}
        return [
            {
                "key": key,
                "new": new,
                **({"old": state[key]} if key in state else {}),
                **({"written": arrival.delta[key]} if _differs(arrival.delta, key, new) else {}),
            }
            for key, new in edit.delta.items()
        ]


@dataclass(frozen=True, slots=True)
class LastCommand:
    """The last command, and who gave it."""

    command: Command | CallOrder
    at: float


@dataclass(frozen=True, slots=True)
class Moved:
    """What a command decided: what may go on now, or that the run is to stop.

    It is put into the run's inbox, so that the run's own task gives the answers.
    """

    released: tuple[Hold, ...] = ()
    stop: bool = False


_TAKING_BACK: frozenset[CommandName] = frozenset({"continue", "pause", "stop_after_event"})
"""Said while a plan waits to be met, they mean the same a moment later, when it has been."""


class Stepper:
    """The debugger of one run."""

    def __init__(self) -> None:
        self.position = 0
        """Raised by every command and by everything that is held or let go."""
        self.plan: Plan | None = None
        self.last: LastCommand | None = None
        self._commanded = 0
        """The position that the last command led to."""
        self._unmet: int | None = None
        """The position before the plan was met, if what is held is held for no other reason."""
        self.has_held = False
        """Whether anything was held at all."""
        self._ids = itertools.count(1)
        self._holds: dict[int, Hold] = {}
        self.committing: Hold | None = None
        """What was let go before its commit, until that is done."""
        self._halted = False
        self._free: tuple[Lane, ...] = ()
        """What goes on although the rest is held."""
        self.pauses = Pauses()

    @property
    def idle(self) -> bool:
        """Nothing can be held: arrivals need not be looked at."""
        return self.plan is None and not self._halted

    @property
    def held_seconds(self) -> float:
        """How long the run was held, in all."""
        return self.pauses.seconds

    @property
    def holds(self) -> list[Hold]:
        """What is held, the oldest first."""
        return list(self._holds.values())

    @property
    def armed(self) -> frozenset[WorkerGate]:
        """The gates at which the worker has to ask."""
        gates = self.plan.gates if self.plan else frozenset()
        return frozenset(gate for gate in WORKER_GATES if gate in gates)

    # --- arrivals --------------------------------------------------------------------------

    def weigh(
        self, arrival: Arrival, breakpoint_id: int | None = None, ruling: Ruling | None = None
    ) -> Hold | None:
        """A hold of it that `take` is to begin, or None to let it pass.

        `breakpoint_id` is that of a breakpoint that is met, `ruling` what the guard asks: a
        recorded result is taken unless somebody takes that back.
        """
        reason = self._reason(arrival, breakpoint_id, ruling)
        if reason is None:
            return None
        since = time.time()
        self.pauses.came(arrival.branch, since)
        return Hold(
            id=next(self._ids),
            arrival=arrival,
            reason=reason,
            breakpoint=breakpoint_id,
            since=since,
            paused=self.pauses.seconds,
            edit=recorded_answer(ruling.offer)
            if ruling and ruling.offer and ruling.exact
            else None,
            ruling=ruling,
        )

    def take(self, hold: Hold) -> bool:
        """Begin the hold; False if commands that were given since it was weighed let it pass."""
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
        """An agent, or a call, has begun."""
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
        """Nobody waits for the answer to this request any more; whether it was held."""
        ids = [hold.id for hold in self.holds if _answers(hold, request)]
        self._let_go(ids)
        return bool(ids)

    def end(self) -> None:
        """The run is over: nothing is held, nothing is planned."""
        self._let_go(list(self._holds))
        self.plan, self._halted, self._free, self.committing = None, False, (), None

    # --- commands --------------------------------------------------------------------------

    def pause(self, actor: str) -> None:
        """Hold the first event that comes, as the one who started the run wants it."""
        self._begin(Command(name="pause", key="", actor=actor))

    def run_to(self, like: Like, actor: str) -> None:
        """Hold the first arrival like this, as the one who started the run wants it."""
        self._begin(Command(name="run_to", key="", like=like, actor=actor))

    def _begin(self, command: Command) -> None:
        self.plan = plan_of(command, None)
        self.note(command)

    def note(self, order: Command | CallOrder) -> None:
        """An order was carried out that leaves the position as it is."""
        self.last = LastCommand(order, time.time())

    def command(self, command: Command) -> Moved:
        """Carry it out and return what may go on.

        Raises Stale when the run is not at the command's position any more, and Misused.
        """
        self._check(command)
        hold = self._target(command)
        move = self._move(command, hold)
        self.committing = next(filter(_commits, move.released), self.committing)
        self.position += 1
        self._commanded, self._unmet = self.position, None
        self.last = LastCommand(command, time.time())
        return move

    def hold_to_change(self, command: Command) -> Hold | None:
        """The hold that a command gives another value, which has to fit.

        Raises Stale when the run is not at the command's position any more, and Misused.
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
            raise Misused(f"{command.name!r} needs the position it applies to")
        if command.position in {None, self.position} or self._apart(command):
            return
        if command.name in _TAKING_BACK and command.position == self._unmet:
            return
        by = ""
        if self.last is not None and (command.position or 0) < self._commanded:
            by = f": {self.last.command.actor} chose {ORDERS[self.last.command.name]!r}"
        raise Stale(f"the run has moved from position {command.position} to {self.position}{by}")

    def _apart(self, command: Command) -> bool:
        """Whether it is about one hold, and all that came since is that others are held, too."""
        is_recent = self._commanded <= (command.position or 0) < self.position
        return is_recent and command.hold in self._holds

    def _target(self, command: Command) -> Hold | None:
        """The hold that a command is about."""
        if command.hold is None:
            at_commit = [hold for hold in self.holds if hold.arrival.summary is not None]
            return next(iter([*at_commit, *self.holds]), None)
        if command.hold not in self._holds:
            raise Misused(f"there is no hold {command.hold}")
        return self._holds[command.hold]

    def _move(self, command: Command, hold: Hold | None) -> Moved:
        if command.name in EDITS or command.name == "undo":
            _edit(command, hold)
            return Moved()
        is_committed = any(hold.arrival.gate == "after_commit" for hold in self.holds)
        if command.name == "stop" or (command.name == "stop_after_event" and is_committed):
            return Moved(stop=True)
        if command.name == "pause" and self._holds:
            return Moved()
        plan = plan_of(command, hold.arrival if hold else None)
        lane = self._lane(command, hold)
        self.plan = replace(plan, lane=lane) if plan else None
        self._halted = lane is not None
        self._free = (*self._free, lane) if lane else ()
        if hold is None or (lane is None and command.name in {"continue", "stop_after_event"}):
            return Moved(tuple(self._let_go(list(self._holds))))
        return Moved(tuple(self._let_go([hold.id])))

    def _lane(self, command: Command, hold: Hold | None) -> Lane | None:
        """What goes on alone, if somebody chose it among several holds."""
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
    """The recorded result in place of the call."""
    fields = {"value": offer.result, "effects": offer.effects}
    return Edit(action="mock", actor=GUARD, at=time.time(), **fields)


def _commits(hold: Hold) -> bool:
    """Whether it is committed when it is let go."""
    is_dropped = hold.edit is not None and hold.edit.action == "drop"
    return hold.arrival.gate == "before_commit" and not is_dropped


def _answers(hold: Hold, request: int) -> bool:
    message = hold.arrival.message
    return message is not None and message.id == request


def _edit(command: Command, hold: Hold | None) -> None:
    """Note what is to be done to a hold, or take it back; it is done when the hold is let go."""
    if hold is None:
        raise Misused("nothing is held, so there is nothing to edit")
    if command.name == "undo":
        hold.edit = None
        return
    action, gate = EDITS[command.name], hold.arrival.gate
    if action not in ALLOWED.get(gate, frozenset()):
        actions = ", ".join(sorted(ALLOWED.get(gate, ()))) or "nothing"
        raise Misused(f"at {gate} you can use {actions}, not {action}")
    if action == "edit" and _same(command.value, original(gate, hold.arrival.payload)):
        if hold.edit is None and hold.refused_edit is None:
            raise Unchanged("nothing was changed: change a value, or continue without editing")
        hold.edit = hold.refused_edit = None
        return
    hold.edit = Edit(action=action, value=command.value, actor=command.actor, at=time.time())


def _differs(delta: Mapping[str, Any], key: str, value: Any) -> bool:
    return key in delta and not _same(delta[key], value)


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; to Python 1, 1.0 and true are equal, too."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
