"""Answers a run's requests, and withholds answers to hold the run (docs/decisions/0006)."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from devui.debugger.breakpoints.book import BreakpointBook
from devui.debugger.breakpoints.breakpoint import StoredBreakpoint
from devui.debugger.events.bus import Bus
from devui.debugger.events.news import BreakpointsChanged, EventDropped, News, PositionChanged
from devui.debugger.events.preview import arguments
from devui.debugger.events.summary import PREVIEW_LIMIT
from devui.debugger.guard.guard import Ruling
from devui.debugger.guard.recorded_calls import RecordedCall, last_result
from devui.debugger.runs.live import LiveRun
from devui.debugger.runs.log_lines import note
from devui.debugger.stepping.arrivals import WORKER_GATES, Arrival, arrival_of
from devui.debugger.stepping.position import held_of
from devui.debugger.stepping.stepper import CommandOutcome, Edit, Hold, recorded_answer
from devui.debugger.workers.workers import Worker
from devui.store.journal import Journal
from devui.store.rows import NewEdit
from devui.wire.events import fields_in
from devui.wire.gates import Verdict, WorkerGate
from devui.wire.messages import Append, ArmGates, Gate, GateCancelled, Reply

Commit = Callable[[Append], Awaitable[Reply]]


@cache
def _changed_fields() -> ModuleType:
    """Import the comparison of edited values on first use; startup doesn't need it."""
    return import_module("devui.debugger.events.changed_fields")


class Gatekeeper:
    """Decides when the requests of one run are answered. Only the run's own task calls it."""

    def __init__(
        self,
        live: LiveRun,
        *,
        journal: Journal,
        bus: Bus[News],
        book: BreakpointBook,
        commit: Commit,
        stop: Callable[[], None],
    ) -> None:
        self._live = live
        self._journal = journal
        self._bus = bus
        self._book = book
        self._commit = commit
        self._stop = stop
        self._armed: frozenset[WorkerGate] = frozenset()
        self._edits: dict[tuple[str, str | None], Edit] = {}
        """Edits sent to the worker, which may refuse them, by the keys of `_what`."""

    def begin(self) -> list[WorkerGate]:
        """Return the gates that are armed when the run starts."""
        self._armed = self._gates()
        return sorted(self._armed)

    async def take(self, worker: Worker, message: Append | Gate) -> None:
        """Hold a request or answer it."""
        arrival = self._arrival(worker, message)
        if arrival is None:
            await worker.send(await self._answer(message))
            return
        ruling = self._ruling(arrival)
        if ruling is not None and ruling.do == "answer" and ruling.offer is not None:
            await worker.send(await self._answer_from_record(message, arrival, ruling.offer))
            return
        if arrival.event is not None and arrival.event.state_delta:
            arrival = arrival.before(await self._journal.state.merged(self._live.session.key))
        is_revised = isinstance(message, Append) and message.is_revised
        if is_revised or not await self._hold(arrival, ruling):
            await self._let_go(worker, arrival)

    async def move(self, worker: Worker, move: CommandOutcome) -> None:
        """Carry out the outcome of a command, and arm the gates that are needed now."""
        gates = self._gates()
        if gates != self._armed:
            self._armed = gates
            await worker.send(ArmGates(run=self._live.row.id, gates=sorted(gates)))
        if move.released:
            await self._keep()
        for hold in move.released:
            if hold.edit is not None and hold.arrival.message is not None:
                self._edits[_what(hold.arrival)] = hold.edit
                verdict = await self._verdict(hold.arrival, hold.edit)
                await worker.send(Reply(id=hold.arrival.message.id, result=verdict))
            else:
                await self._let_go(worker, hold.arrival)

    async def leave(self, message: GateCancelled) -> None:
        """Drop the hold of a request that was cancelled."""
        if self._live.stepper.leave(message.gate) and not self._live.stopping:
            await self._keep()
            self._publish()

    def end(self) -> None:
        """Drop all holds, since the run is over; only the journal keeps them."""
        self._live.stepper.end()

    async def _let_go(self, worker: Worker, arrival: Arrival) -> None:
        if arrival.reply is not None:
            await worker.send(arrival.reply)
        if arrival.reply is not None or arrival.message is None:
            return
        reply = await self._answer(arrival.message)
        if isinstance(arrival.message, Append) and reply.result is not None:
            number = json.loads(reply.result)["number"]
            if await self._hold(arrival.committed(reply, number)):
                return
        await worker.send(reply)

    async def _verdict(self, arrival: Arrival, edit: Edit) -> str:
        """Return the verdict for the worker, after journaling who changed what."""
        live = self._live
        row = await self._journal.edits.add(
            live.session.key,
            NewEdit(
                run=live.row.id,
                gate=arrival.gate,
                agent=arrival.agent,
                tool=arrival.tool,
                call=arrival.call,
                event=arrival.event.id if arrival.event else None,
                action=edit.action,
                actor=edit.actor,
                at=edit.at,
                before=json.dumps(arrival.payload),
                after=json.dumps(edit.value),
                turn=live.recording.turns[arrival.agent],
            ),
        )
        if edit.action == "drop":
            self._bus.publish(live.session.key, EventDropped(row))
        mark = {"edit": row.id, "gate": arrival.gate, "action": edit.action, "by": edit.actor}
        if arrival.tool and arrival.call:
            mark["call"] = arrival.call
        if arrival.gate == "before_tool" and edit.action == "edit":
            mark["ran"] = arguments(fields_in(edit.value), PREVIEW_LIMIT)
        if edit.action == "edit":
            changed_at = _changed_fields().changed_at
            live.changes[row.id] = changed_at(arrival.gate, arrival.payload, edit.value)
        old_values = {each["key"]: each["old"] for each in arrival.changes if "old" in each}
        verdict = Verdict(
            action=edit.action,
            value=json.dumps(edit.value),
            mark=json.dumps(mark),
            committed=json.dumps(old_values),
            effects=json.dumps(edit.effects),
        )
        return json.dumps({"verdict": asdict(verdict)})

    def _ruling(self, arrival: Arrival) -> Ruling | None:
        """Return the guard's ruling on a tool call; None if the call may simply run."""
        guard = self._live.guard
        if guard is None or arrival.gate != "before_tool" or arrival.problem:
            return None
        ruling = guard.rule(arrival.tool or "", arrival.payload.get("args") or {})
        return None if ruling.do == "run" else ruling

    async def _answer_from_record(
        self, message: Append | Gate, arrival: Arrival, offer: RecordedCall
    ) -> Reply:
        """Answer the call with its recorded result, as an edit made by the guard."""
        note(self._live, self._bus, "debugger", f"{arrival.tool}: result of #{offer.number} used")
        return Reply(id=message.id, result=await self._verdict(arrival, recorded_answer(offer)))

    async def _answer(self, message: Append | Gate) -> Reply:
        if isinstance(message, Append):
            reply = await self._commit(message)
            self._live.stepper.committing = None
            return reply
        return Reply(id=message.id)

    def _arrival(self, worker: Worker, message: Append | Gate) -> Arrival | None:
        """Return the arrival of a request; None if nothing can hold it."""
        live = self._live
        idle = live.stepper.idle and not self._breakpoints and live.guard is None
        if live.stopping or (idle and message.problem is None):
            return None
        return arrival_of(message, worker.info.result().agents)

    @property
    def is_debugged(self) -> bool:
        """Whether anything may hold the run, or has held it."""
        stepper = self._live.stepper
        return not stepper.idle or stepper.has_held or bool(self._breakpoints)

    @property
    def _breakpoints(self) -> tuple[StoredBreakpoint, ...]:
        session = self._live.session
        if self._live.ignores_breakpoints:
            return ()
        return self._book.enabled(session.app, session.user)

    def _gates(self) -> frozenset[WorkerGate]:
        gates = {point.breakpoint.gate for point in self._breakpoints}
        guard_gates: frozenset[WorkerGate] = frozenset({"before_tool"} if self._live.guard else ())
        return (
            guard_gates
            | self._live.stepper.armed
            | {gate for gate in WORKER_GATES if gate in gates}
        )

    async def _hold(self, arrival: Arrival, ruling: Ruling | None = None) -> bool:
        """Hold the arrival if anything stops it, and return whether it is held.

        A hold is published only once it is in the journal.
        """
        live = self._live
        breakpoint_id = await self._breakpoint_at(arrival)
        hold = None if live.stopping else live.stepper.weigh(arrival, breakpoint_id, ruling)
        if hold is None:
            return False
        if arrival.gate == "before_commit" and arrival.state is None:  # an edit may write to it
            hold.arrival = arrival.before(await self._journal.state.merged(live.session.key))
        hold.refused_edit = self._edits.get(_what(arrival)) if arrival.problem else None
        await self._keep(hold)
        if arrival.gate == "before_tool":
            hold.last_result = await self._last_result(arrival, ruling)
        if live.ended.is_set():  # no request is answered anymore; the journal keeps what was held
            return True
        if not live.stepper.take(hold):
            await self._keep()
            return False
        if hold.reason == "stop":
            self._stop()
        else:
            self._publish()
        return True

    async def _last_result(
        self, arrival: Arrival, ruling: Ruling | None
    ) -> Mapping[str, Any] | None:
        """Return what the same call returned before, in this session or the guard's record."""
        if ruling and ruling.offer and ruling.same_args:
            return ruling.offer.result
        args = arrival.payload.get("args") or {}
        return await last_result(self._journal, self._live.session.key, arrival.tool or "", args)

    async def _breakpoint_at(self, arrival: Arrival) -> int | None:
        """Return the number of the breakpoint that stops here, and write the lines of logpoints.

        An arrival that comes back because an edit could not be applied isn't checked again.
        """
        if arrival.problem:
            return None
        points = [each for each in self._breakpoints if each.breakpoint.gate == arrival.gate]
        if not points:
            return None
        live = self._live
        state: Mapping[str, Any] = {}
        if any("state" in each.breakpoint.names for each in points):
            state = await self._journal.state.merged(live.session.key)
        facts = arrival.facts(state, self._usage(arrival), live.meter.prices)
        hits = live.watch.check(points, arrival, facts)
        for hit in hits:
            await self._book.hit(hit.point, self._journal)
            if hit.line is not None:
                note(live, self._bus, "logpoint", hit.line)
        if hits:
            self._bus.publish(live.session.key, BreakpointsChanged(live.session.app))
        return next((hit.point.row.id for hit in hits if hit.stops), None)

    def _usage(self, arrival: Arrival) -> Mapping[str, Any]:
        """Return what the run has used, including the event that is about to be committed."""
        live = self._live
        meter, seconds = live.meter, live.start.seconds - live.stepper.held_seconds
        if arrival.gate == "before_commit" and arrival.event is not None:
            meter = meter.with_event(arrival.event)
        return meter.facts(seconds)

    async def _keep(self, arriving: Hold | None = None) -> None:
        """Journal what is held, so that a restarted server can show what was lost."""
        holds, runs = held_of(self._live.stepper, arriving), self._journal.runs
        if holds:
            await runs.keep_position(self._live.row.id, json.dumps(holds))
        else:
            await runs.forget_position(self._live.row.id)

    def _publish(self) -> None:
        live = self._live
        live.watchdog_wake.set()
        self._bus.publish(live.session.key, PositionChanged(live.row.id, live.stepper.position))


def _what(arrival: Arrival) -> tuple[str, str | None]:
    """Return a key of the held item that stays the same when it arrives again."""
    return arrival.gate, arrival.event.id if arrival.event else arrival.call
