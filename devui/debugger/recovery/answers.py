"""People's decisions about calls of unknown outcome, as events for the agent to continue with."""

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from devui.debugger.events.shape import no_actions
from devui.debugger.recovery.last_spans import FAILED_CALL
from devui.debugger.recovery.unknown_calls import UnknownCall
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

"""The error that the model gets for a call that counts as failed, unless a person writes one."""


CALL_LOST = "CALL_LOST"
"""The error code of the event that makes a long-running call run again."""


class DecisionRequired(Exception):
    """Calls may have run, and nobody has decided what to do about them."""

    def __init__(self, calls: Sequence[UnknownCall]) -> None:
        names = ", ".join(f"{call.tool} ({call.id})" for call in calls if call.needs_decision)
        super().__init__(
            f"it's unknown whether these calls ran: {names}. For each, choose whether to "
            "run it again, use a result, treat it as failed, or, if it is "
            "long-running, wait for its answer"
        )
        self.calls = tuple(calls)


class InvalidDecision(ValueError):
    """A decision about a call that needs none, or a decision that the call doesn't allow."""


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """What a person wants to be done about one call."""

    do: Decision
    result: Any = None
    """For `result`: the value to use as the call's result."""
    reason: str = ""
    """For `fail`: the error that the model gets."""


@dataclass(frozen=True, slots=True)
class CallDecision:
    """A decision that something has to be committed for: a response in place of the tool's, or that
    a long-running call is made again, which the runtime wouldn't do by itself."""

    call: UnknownCall
    action: Literal["mock", "reject", "again"]
    response: Mapping[str, Any]
    """Empty for a call that is made again."""
    actor: str
    actions: Mapping[str, Any] = field(default_factory=dict)
    """What the call did besides returning the response, in wire form."""
    by_user: bool = False
    """Whether it is the final answer to a long-running call, not the interim result of its tool.
    Only an event by the user ends the wait."""


def decide(
    calls: Sequence[UnknownCall], answers: Mapping[str, CallAnswer], actor: str
) -> tuple[CallDecision, ...]:
    """Return what to commit before the invocation continues; other calls run again or are awaited.

    Raises DecisionRequired and InvalidDecision.
    """
    needless = answers.keys() - {call.id for call in calls}
    if needless:
        raise InvalidDecision(f"these calls don't need a decision: {', '.join(sorted(needless))}")
    if any(call.needs_decision and call.id not in answers for call in calls):
        raise DecisionRequired(calls)
    decisions = [
        _decision(call, answers.get(call.id, _default_answer(call)), actor) for call in calls
    ]
    return tuple(each for each in decisions if each is not None)


def _default_answer(call: UnknownCall) -> CallAnswer:
    return CallAnswer("recorded" if call.answered_by else "run")


def _decision(call: UnknownCall, answer: CallAnswer, actor: str) -> CallDecision | None:
    if answer.do == "run":
        return CallDecision(call, "again", {}, actor) if call.long_running else None
    if answer.do == "wait":
        if not call.long_running or not call.is_made:
            raise InvalidDecision(
                f"the call {call.id!r} isn't long-running, so it can't be waited for"
            )
        return None
    if answer.do == "fail":
        return CallDecision(
            call, "reject", {"error": answer.reason or LOST}, actor, by_user=call.long_running
        )
    if answer.do == "recorded":
        if call.recorded is None:
            raise InvalidDecision(f"no result was recorded for the call {call.id!r}")
        did = {**call.actions, "stateDelta": dict(call.writes)}
        return CallDecision(call, "mock", call.recorded, call.answered_by or actor, did)
    value = answer.result if isinstance(answer.result, dict) else {"result": answer.result}
    return CallDecision(call, "mock", value, actor, by_user=call.long_running)


def opening(decisions: Sequence[CallDecision]) -> Opening | None:
    """Return the opening of a run that resumes the invocation; None if nothing was decided."""
    return partial(_responses, decisions) if decisions else None


async def _responses(
    decisions: Sequence[CallDecision], journal: Journal, session: int, run: str
) -> list[NewEvent]:
    """Return the events that answer the calls, after journaling who decided what."""
    by_event: dict[int, list[CallDecision]] = {}
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


def _again(request: Event, decision: CallDecision) -> NewEvent:
    """Return an event that marks a long-running call as failed, so that it is made again."""
    call = decision.call
    clause = "was in progress; it runs again" if call.is_made else "was held; it runs now"
    event = _beside(request) | {
        "errorCode": CALL_LOST,
        "errorMessage": f"The run was cut off while {call.tool} {clause} ({decision.actor}).",
        "customMetadata": {FAILED_CALL: call.id},
    }
    return _committable(event)


async def _record(
    journal: Journal, session: int, decision: CallDecision, run: str
) -> dict[str, Any]:
    """Journal the decision as an edit, and return its mark."""
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
    request: Event, decisions: Sequence[CallDecision], marks: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the event the agent would have made of the results, in the same place as the calls."""
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


def _together(decisions: Sequence[CallDecision]) -> dict[str, Any]:
    """Merge the actions of the decisions; the last write of a key counts, as in the runtime."""
    actions = no_actions()
    for each in decisions:
        delta = {**actions["stateDelta"], **each.actions.get("stateDelta", {})}
        actions |= {**each.actions, "stateDelta": delta}
    return actions


def _committable(event: dict[str, Any]) -> NewEvent:
    return event_of(Event.of(event), final=False)


def _beside(request: Event) -> dict[str, Any]:
    """Return a new, empty event in the same place as another."""
    places = ("invocationId", "author", "branch", "isolationScope")
    return {name: request.fields[name] for name in places if name in request.fields} | {
        "id": str(uuid.uuid4()),
        "timestamp": time.time(),
        "actions": no_actions(),
        "nodeInfo": {"path": request.node_path},
    }
