"""What people decide about calls of unknown outcome, as events that the agent goes on with."""

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from devui.debugger.commit import event_of
from devui.debugger.recovery.unknown import UnknownCall
from devui.store.journal import Journal
from devui.store.rows import NewEdit, NewEvent
from devui.wire.gates import EDITED

Decision = Literal["run", "result", "recorded", "fail"]

LOST = (
    "The run was cut off before the tool's result was recorded. The call may have had its effect."
)
"""What the model is told of a call that counts as failed, if nobody says it better."""


class Undecided(Exception):
    """Calls may have been carried out, and nobody has said what is to become of them."""

    def __init__(self, calls: Sequence[UnknownCall]) -> None:
        names = ", ".join(f"{call.tool} ({call.id})" for call in calls if call.asks)
        super().__init__(
            f"nobody knows whether these calls were carried out: {names}. Say for each whether to "
            "run it again, to take a result, or to treat it as failed"
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
    """A call that has its response by decision and not by its tool."""

    call: UnknownCall
    action: Literal["mock", "reject"]
    response: Mapping[str, Any]
    actor: str


def settle(
    calls: Sequence[UnknownCall], answers: Mapping[str, CallAnswer], actor: str
) -> tuple[Settled, ...]:
    """The responses to commit before the invocation goes on; the other calls are run again.

    Raises Undecided, and Misjudged.
    """
    unasked = answers.keys() - {call.id for call in calls}
    if unasked:
        raise Misjudged(f"these calls are not in question: {', '.join(sorted(unasked))}")
    if any(call.asks and call.id not in answers for call in calls):
        raise Undecided(calls)
    given = [(call, answers[call.id]) for call in calls if call.id in answers]
    return tuple(_settled(call, answer, actor) for call, answer in given if answer.do != "run")


def _settled(call: UnknownCall, answer: CallAnswer, actor: str) -> Settled:
    if answer.do == "fail":
        return Settled(call, "reject", {"error": answer.reason or LOST}, actor)
    if answer.do == "recorded":
        if call.recorded is None:
            raise Misjudged(f"no result of the call {call.id!r} was recorded")
        return Settled(call, "mock", call.recorded, actor)
    value = answer.result
    return Settled(call, "mock", value if isinstance(value, dict) else {"result": value}, actor)


async def responses(
    journal: Journal, session: int, settled: Sequence[Settled], run: str
) -> list[NewEvent]:
    """An event for each event with such calls; who decided is kept in the journal first."""
    by_event: dict[int, list[Settled]] = {}
    for each in settled:
        by_event.setdefault(each.call.event, []).append(each)
    bodies = await journal.events.bodies(session, by_event)
    events = []
    for row, data in bodies:
        marks = [await _recorded(journal, session, each, run) for each in by_event[row.number]]
        events.append(_event(json.loads(data), by_event[row.number], marks))
    return events


async def _recorded(journal: Journal, session: int, settled: Settled, run: str) -> dict[str, Any]:
    """The mark of the edit."""
    call = settled.call
    kept = await journal.edits.add(
        session,
        NewEdit(
            run=run,
            gate="resume",
            agent=call.agent,
            tool=call.tool,
            call=call.id,
            event=None,
            action=settled.action,
            actor=settled.actor,
            at=time.time(),
            before="null",
            after=json.dumps(settled.response),
        ),
    )
    return {"edit": kept.id, "gate": "resume", "action": settled.action, "by": settled.actor}


def _event(
    asked: Mapping[str, Any], settled: Sequence[Settled], marks: Sequence[Mapping[str, Any]]
) -> NewEvent:
    """What the agent would have said with the results, at the place it asked from."""
    parts = [
        {
            "functionResponse": {
                "id": each.call.id,
                "name": each.call.tool,
                "response": dict(each.response),
            }
        }
        for each in settled
    ]
    places = ("invocationId", "author", "branch", "isolationScope")
    event: dict[str, Any] = {name: asked[name] for name in places if name in asked}
    event |= {
        "id": str(uuid.uuid4()),
        "timestamp": time.time(),
        "content": {"role": "user", "parts": parts},
        "actions": no_actions(),
        "nodeInfo": {"path": (asked.get("nodeInfo") or {}).get("path") or ""},
        "customMetadata": {EDITED: list(marks)},
    }
    return event_of(event, json.dumps(event), final=False)


def no_actions() -> dict[str, Any]:
    """The actions of an event that does nothing, in wire form."""
    names = ("stateDelta", "artifactDelta", "requestedAuthConfigs", "requestedToolConfirmations")
    return {name: {} for name in names}
