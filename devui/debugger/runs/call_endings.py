"""Ends a model or tool call in progress, or answers in its place (rank 17)."""

import asyncio
import itertools
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from devui.debugger.events.bus import Bus
from devui.debugger.events.news import News, PositionChanged
from devui.debugger.runs.live import LiveRun, StartTime
from devui.debugger.runs.log_lines import note
from devui.debugger.runs.watchdog import Inspections
from devui.debugger.stepping.commands import (
    CallOrder,
    CommandRefused,
    InvalidCommand,
    StalePosition,
)
from devui.debugger.stepping.order_answers import OrderAnswers
from devui.debugger.stepping.position import position_of
from devui.store.journal import Journal
from devui.store.rows import EditRow, NewEdit
from devui.wire.endings import CallEnded, EndCall
from devui.wire.inspection import InspectedCall, Inspection

_ACTIONS: Final[Mapping[str, Literal["end", "mock"]]] = {"end": "end", "answer": "mock"}
_ANSWER: Final = 2.0
"""How many seconds a worker may take to answer; with a blocked event loop it takes longer."""
_REFUSED: Final = {
    "gone": "the call has already ended",
    "ending": "the call hasn't responded to an earlier request to end: stop the run instead",
    "stopping": "the run and its calls are being stopped",
}


class Endings:
    """The orders that wait for their worker's answer."""

    def __init__(
        self, journal: Journal, bus: Bus[News], inspections: Inspections, answers: OrderAnswers
    ) -> None:
        self._journal = journal
        self._bus = bus
        self._inspections = inspections
        self._answers = answers
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[CallEnded]] = {}

    def take(self, ending: CallEnded) -> None:
        """Take a worker's answer; one that comes too late is ignored."""
        future = self._waiting.get(ending.order)
        if future is not None and not future.done():
            future.set_result(ending)

    async def carry_out(self, live: LiveRun, order: CallOrder) -> dict[str, Any]:
        """End or answer the call and return the position; a repeated order does nothing.

        Raises CommandRefused with the current position: StalePosition if the call has ended or
        can't be reached, InvalidCommand if the order doesn't name one call or its answer isn't
        valid.
        """
        async with live.ending:
            try:
                answer = self._answers.answer_to(live.row.id, order)
                return answer if answer is not None else await self._carry_out(live, order)
            except CommandRefused as error:
                raise error.at(position_of(live)) from None

    async def _carry_out(self, live: LiveRun, order: CallOrder) -> dict[str, Any]:
        call = _call_in(await self._inspections.inspect(live), order)
        edit = await self._record(live, call, order)
        ending = await self._ask(live, call, order, edit)
        if ending.refused:
            await self._journal.edits.take_back(edit.id)
            raise (
                InvalidCommand(ending.problem)
                if ending.problem
                else StalePosition(_REFUSED[ending.refused])
            )
        _say(live, self._bus, call, order, ending)
        live.inspection, live.last_progress = None, StartTime()
        live.stepper.note(order)
        answer = position_of(live)
        self._answers.remember(live.row.id, order, answer)
        self._bus.publish(live.session.key, PositionChanged(live.row.id, live.stepper.position))
        return answer

    async def _record(self, live: LiveRun, call: InspectedCall, order: CallOrder) -> EditRow:
        """Write the edit to the journal before it is made."""
        edit = NewEdit(
            run=live.row.id,
            gate=f"in_{call.kind}",
            agent=call.agent,
            tool=call.name if call.kind == "tool" else None,
            call=call.call,
            event=None,
            action=_ACTIONS[order.name],
            actor=order.actor,
            at=time.time(),
            before=json.dumps({"name": call.name, "given": call.about, "since": call.since}),
            after=json.dumps(_value(order, call)),
        )
        return await self._journal.edits.add(live.session.key, edit)

    async def _ask(
        self, live: LiveRun, call: InspectedCall, order: CallOrder, edit: EditRow
    ) -> CallEnded:
        """Send the order to the worker and wait for its answer.

        Raises StalePosition if none comes.
        """
        number, action = next(self._numbers), _ACTIONS[order.name]
        mark = {"edit": edit.id, "gate": edit.edit.gate, "action": action, "by": order.actor}
        future: asyncio.Future[CallEnded] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            if live.worker is None:
                return CallEnded(order=number, refused="gone")
            await live.worker.send(
                EndCall(
                    order=number,
                    run=live.row.id,
                    call=call.id,
                    action=action,
                    value=edit.edit.after,
                    mark=json.dumps(mark),
                )
            )
            async with asyncio.timeout(_ANSWER):
                return await future
        except TimeoutError:
            raise StalePosition(
                "the agent's process isn't responding: its event loop is blocked, or it is "
                "starting; the call will end after that"
            ) from None
        finally:
            self._waiting.pop(number, None)


def _call_in(inspection: Inspection | None, order: CallOrder) -> InspectedCall:
    """Return the call as the inspection shows it.

    Raises StalePosition, and InvalidCommand if several match.
    """
    if inspection is None:
        raise StalePosition("the agent's process doesn't report which calls are in progress")
    if inspection.blocked:
        raise StalePosition(
            f"the app's code has blocked the event loop for {inspection.blocked:.0f} s, so calls "
            "can't be ended: stop the run"
        )
    if isinstance(order.call, str):
        return _find_call(inspection.calls, order.call)
    activity = next((call for call in inspection.calls if call.id == order.call), None)
    if activity is None:
        raise StalePosition(_REFUSED["gone"])
    return activity


def _find_call(calls: Sequence[InspectedCall], name: str) -> InspectedCall:
    """Return the call with this id or, if there is none, this name. Raises what `_call_in` does."""
    matches = [call for call in calls if call.call == name]
    matches = matches or [call for call in calls if call.name == name]
    if not matches:
        raise StalePosition(f"no call {name!r} is in progress")
    if len(matches) > 1:
        numbers = ", ".join(f"{call.id} ({call.about})" for call in matches)
        raise InvalidCommand(f"several calls are named {name!r}: choose one by number: {numbers}")
    return matches[0]


def _value(order: CallOrder, call: InspectedCall) -> Any:
    if order.name == "answer":
        return order.value
    why = f"{order.actor} ended the call of {call.name} after {call.seconds:.1f} s"
    return f"{why}: {order.value}" if order.value else why


def _say(
    live: LiveRun, bus: Bus[News], call: InspectedCall, order: CallOrder, ending: CallEnded
) -> None:
    verb = "ended" if order.name == "end" else "answered"
    text = f"{call.name} {verb} by {order.actor}"
    if ending.thread:
        text += (
            "; a thread can't be stopped: its function keeps running and its result is discarded"
        )
    note(live, bus, "debugger", text)
