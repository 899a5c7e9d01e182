"""What people decide about calls of unknown outcome, as events that the agent goes on with."""

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from devui.debugger.events.shape import no_actions
from devui.debugger.recovery.lastspans import FAILED_CALL
from devui.debugger.recovery.unknown import UnknownCall
from devui.debugger.runs.commit import event_of
from devui.debugger.runs.request import Opening
from devui.store.journal import Journal
from devui.store.rows import NewEdit, NewEvent
from devui.wire.events import USER, Event
from devui.wire.gates import EDITED

Decision = Literal["run", "result", "recorded", "fail", "wait"]

LOST = (
    "The run was cut off before the tool's result was recorded. The call may have had its effect."
)

"""What the model is told of a call that counts as failed, if nobody says it better."""


CALL_LOST = "CALL_LOST"
"""Error code of the event that has a call which is answered later made again."""


class Undecided(Exception):
    """Calls may have been carried out, and nobody has said what is to become of them."""

    def __init__(self, calls: Sequence[UnknownCall]) -> None:
        names = ", ".join(f"{call.tool} ({call.id})" for call in calls if call.asks)
        super().__init__(
            f"it's unknown whether these calls ran: {names}. For each, choose whether to "
            "run it again, use a result, treat it as failed, or, if it is "
            "long-running, wait for its answer"
        )
        self.calls = tuple(calls)


class Misjudged(ValueError):
    """A decision about a call that is not in question, or that lacks what it needs."""


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """One decision."""

    do: Decision
    result: Any = None
    """Of `result`: what the call is said to have returned."""
    reason: str = ""
    """Of `fail`: what the model is told."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A call that has its response by decision and not by its tool; or that is answered later and
    has to be made again, which the runtime would not do of its own."""

    call: UnknownCall
    action: Literal["mock", "reject", "again"]
    response: Mapping[str, Any]
    """Empty of one that is made again."""
    actor: str
    actions: Mapping[str, Any] = field(default_factory=dict)
    """What the call did besides giving the response, in wire form."""
    by_user: bool = False
    """It is the answer that somebody owes to a call which is answered later, not what its tool gave
    in the meantime: only the user's word ends the waiting."""


def settle(
    calls: Sequence[UnknownCall], answers: Mapping[str, CallAnswer], actor: str
) -> tuple[Settled, ...]:
    """What to commit before the invocation goes on; the other calls are run again, or waited for.

    Raises Undecided, and Misjudged.
    """
    needless = answers.keys() - {call.id for call in calls}
    if needless:
        raise Misjudged(f"these calls don't need a decision: {', '.join(sorted(needless))}")
    if any(call.asks and call.id not in answers for call in calls):
        raise Undecided(calls)
    decisions = [
        _decide(call, answers.get(call.id, _default_answer(call)), actor) for call in calls
    ]
    return tuple(each for each in decisions if each is not None)


def _default_answer(call: UnknownCall) -> CallAnswer:
    return CallAnswer("recorded" if call.answered_by else "run")


def _decide(call: UnknownCall, answer: CallAnswer, actor: str) -> Settled | None:
    if answer.do == "run":
        return Settled(call, "again", {}, actor) if call.later else None
    if answer.do == "wait":
        if not call.later or not call.is_made:
            raise Misjudged(f"the call {call.id!r} isn't long-running, so it can't be waited for")
        return None
    if answer.do == "fail":
        return Settled(call, "reject", {"error": answer.reason or LOST}, actor, by_user=call.later)
    if answer.do == "recorded":
        if call.recorded is None:
            raise Misjudged(f"no result was recorded for the call {call.id!r}")
        did = {**call.actions, "stateDelta": dict(call.writes)}
        return Settled(call, "mock", call.recorded, call.answered_by or actor, did)
    value = answer.result if isinstance(answer.result, dict) else {"result": answer.result}
    return Settled(call, "mock", value, actor, by_user=call.later)


def opening(decisions: Sequence[Settled]) -> Opening | None:
    """What a run that goes on begins with; None if nothing was decided."""
    return partial(_responses, decisions) if decisions else None


async def _responses(
    decisions: Sequence[Settled], journal: Journal, session: int, run: str
) -> list[NewEvent]:
    """An event for each event with such calls; who decided is kept in the journal first."""
    by_event: dict[int, list[Settled]] = {}
    for each in decisions:
        by_event.setdefault(each.call.event, []).append(each)
    bodies = await journal.events.bodies(session, by_event)
    events = []
    for row, request in bodies:
        answers = [each for each in by_event[row.number] if each.action != "again"]
        for by_user in (False, True):
            if group := [each for each in answers if each.by_user is by_user]:
                marks = [await _record(journal, session, each, run) for each in group]
                event = _event(request, group, marks)
                events.append(_committable(event | {"author": USER} if by_user else event))
        events += [_again(request, each) for each in by_event[row.number] if each.action == "again"]
    return events


def _again(request: Event, decision: Settled) -> NewEvent:
    """The record of a call that is answered later and has failed: so it is made once more."""
    call = decision.call
    fate = "was in progress; it runs again" if call.is_made else "was held; it runs now"
    event = _beside(request) | {
        "errorCode": CALL_LOST,
        "errorMessage": f"The run was cut off while {call.tool} {fate} ({decision.actor}).",
        "customMetadata": {FAILED_CALL: call.id},
    }
    return _committable(event)


async def _record(journal: Journal, session: int, decision: Settled, run: str) -> dict[str, Any]:
    """The mark of the edit."""
    call = decision.call
    row = await journal.edits.add(
        session,
        NewEdit(
            run=run,
            gate="resume",
            agent=call.agent,
            tool=call.tool,
            call=call.id,
            event=None,
            action=decision.action,
            actor=decision.actor,
            at=time.time(),
            before="null",
            after=json.dumps(decision.response),
        ),
    )
    return {"edit": row.id, "gate": "resume", "action": decision.action, "by": decision.actor}


def _event(
    request: Event, decisions: Sequence[Settled], marks: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """What the agent would have said with the results, at the place it asked from."""
    parts = [
        {
            "functionResponse": {
                "id": each.call.id,
                "name": each.call.tool,
                "response": dict(each.response),
            }
        }
        for each in decisions
    ]
    return _beside(request) | {
        "content": {"role": "user", "parts": parts},
        "actions": _together(decisions),
        "customMetadata": {EDITED: list(marks)},
    }


def _together(decisions: Sequence[Settled]) -> dict[str, Any]:
    """The actions of all; what several wrote is as the last one has it, as in the runtime."""
    actions = no_actions()
    for each in decisions:
        delta = {**actions["stateDelta"], **each.actions.get("stateDelta", {})}
        actions |= {**each.actions, "stateDelta": delta}
    return actions


def _committable(event: dict[str, Any]) -> NewEvent:
    return event_of(Event.of(event), final=False)


def _beside(request: Event) -> dict[str, Any]:
    """A new event at the place of another, still without anything in it."""
    places = ("invocationId", "author", "branch", "isolationScope")
    return {name: request.fields[name] for name in places if name in request.fields} | {
        "id": str(uuid.uuid4()),
        "timestamp": time.time(),
        "actions": no_actions(),
        "nodeInfo": {"path": request.node_path},
    }
