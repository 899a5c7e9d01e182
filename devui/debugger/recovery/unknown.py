"""Tool calls whose outcome nobody knows: the run was cut off while they were carried out.

The committed event with the call is the record that came before the act: the agent learns of the
commit, and then the tool runs. So a call without a response in a run that was cut off may have
been carried out, unless the debugger held it back, which is in the journal too. If the tool had
returned already, its span has the result and what it wrote to the state. Calls without a response
in a run that failed by itself have raised, or were beside one that did: they run again unless
somebody gives a result. A call whose arguments were edited in a fork has never run with them, so
what its parent recorded is no result of it.

A call that somebody answers later has no response either, so its span alone tells: if it ended
with nothing, the call waits for its answer; if it did not end, nobody knows whether it was made.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from devui.debugger.guard.effects import FRAMEWORK_CALLS
from devui.debugger.guard.ground import effects_taken
from devui.debugger.guard.recorded import kept_actions
from devui.debugger.recovery.lastspans import LastSpan, lasting
from devui.store.journal import Journal
from devui.store.rows import EventRow, ForkRow, NewEdit, RunRow
from devui.store.runs.calls import first_open_call, has_event_by
from devui.wire.events import Event
from devui.wire.gates import EFFECTS, GUARD, SKIPPED, Effect

Choice = Literal["run", "fail", "recorded", "wait"]
_ANSWERS: Final = frozenset({"mock", "skip", "reject"})
_TEMPORARY: Final = "temp:"
_Stored = tuple[EventRow, Event]
_HELD_BACK: Final[dict[str, Any]] = {"is_made": False, "recorded": None, "answered_by": ""}


@dataclass(frozen=True, slots=True)
class UnknownCall:
    """A call that has perhaps been carried out."""

    id: str
    tool: str
    agent: str
    args: Mapping[str, Any]
    event: int
    """The number of the event with the call."""
    mark: Effect | None = None
    """What the tool does to the world, if anybody says it."""
    recorded: Mapping[str, Any] | None = None
    """What the call returned: before its run was cut off, or in the session that this one was
    forked from."""
    actions: Mapping[str, Any] = field(default_factory=dict)
    """What it did besides returning that, in wire form."""
    in_parent: bool = False
    """It returned in the session that this one was forked from."""
    later: bool = False
    """It is one that somebody answers later: it may also be waited for."""
    is_made: bool = True
    """False if the debugger had held it back, so that it is known not to have been made."""
    answered_by: str = ""
    """Who gave the answer, `recorded`, in place of the call, which was not made; "" for nobody."""
    is_edited: bool = False
    """Its arguments are others than in the session that this one was forked from."""
    is_failed: bool = False
    """Its run failed by itself: it raised, or was beside a call that did."""
    error: str = ""
    """The exception it raised, `ConnectionError: 503`, if that was recorded."""

    @property
    def writes(self) -> Mapping[str, Any]:
        """The state that comes with the recorded result."""
        delta = self.actions.get("stateDelta") or {}
        return {key: value for key, value in delta.items() if not key.startswith(_TEMPORARY)}

    @property
    def default(self) -> Choice:
        """What is sensible if nobody says anything: not to act twice without leave."""
        if self.recorded is not None:
            return "recorded"
        if not self.is_made or self.is_failed or self.mark not in {None, "effects"}:
            return "run"
        return "wait" if self.later else "fail"

    @property
    def asks(self) -> bool:
        """Whether somebody has to decide about it."""
        safe = self.is_failed or self.mark in {"idempotent", "read_only"}
        return self.is_made and not safe


async def unknown_calls(journal: Journal, session: int, invocation: str) -> tuple[UnknownCall, ...]:
    """The calls to decide about before the invocation is resumed, in their order."""
    fork = await journal.forks.get(session)
    runs = await journal.runs.list(session)
    newest = next((run for run in runs if run.invocation_id == invocation), None)
    through = fork if newest is None and fork and fork.invocation == invocation else None
    if through is None and (newest is None or newest.status in {"running", "done"}):
        return ()
    events = await _events(journal, session, invocation)
    candidates = [
        call
        for call in _open_calls(events)
        if not await has_event_by(journal, session, invocation, call.tool)  # an agent of that name
    ]
    if not candidates:
        return ()
    open_calls = await _with_effects(journal, session, candidates)
    own = [run.id for run in reversed(runs) if run.invocation_id == invocation]
    last_spans = await lasting(
        journal, session, events, own, calls=[call.id for call in open_calls]
    )
    if newest is not None and not was_cut_off(newest):
        return tuple(
            replace(call, is_failed=True, error=_error(last_spans.get(call.id)))
            for call in open_calls
            if not call.later
        )
    if newest is not None:
        withheld = await _withheld(journal, newest)
        stand_ins = await _stand_ins(journal, newest)
        calls = [replace(call, **stand_ins.get(call.id, {})) for call in open_calls]
        undecided = [_as_left(call, last_spans.get(call.id), newest, withheld) for call in calls]
        return tuple(call for call in undecided if call is not None)
    parent = await _in_parent(journal, through, invocation) if through else {}
    return tuple(
        replace(call, **_since_fork(call, parent.get(call.id), _error(last_spans.get(call.id))))
        for call in open_calls
        if not call.later or ((span := last_spans.get(call.id)) and not span.over)
    )


def _error(span: LastSpan | None) -> str:
    return span.error if span else ""


def _since_fork(call: UnknownCall, before: "_ParentCall | None", error: str) -> dict[str, Any]:
    """What is known of a call that the fork cut through from what its parent has of it."""
    if before is not None and before.args != call.args:
        return {"is_edited": True, "is_made": False}
    if error:
        return {"in_parent": True, "is_failed": True, "error": error}
    if before is None or before.result is None:
        return {"in_parent": True}
    return {"in_parent": True, "recorded": before.result, "actions": before.actions}


def _as_left(
    call: UnknownCall, span: LastSpan | None, newest: RunRow, held_calls: Collection[str | int]
) -> UnknownCall | None:
    """What is known of a call after the newest run was cut off; None if it is not in question."""
    if call.id in held_calls or call.event in held_calls:
        return replace(call, **_HELD_BACK) if call.later else None
    if span is not None and call.later and span.over and span.result is None:
        return None  # it waits, or has failed and is run again
    if span is None or not (call.later or span.run == newest.id):
        return call
    return replace(call, recorded=span.result, actions=span.actions, is_made=True, answered_by="")


async def _with_effects(
    journal: Journal, session: int, calls: Sequence[UnknownCall]
) -> list[UnknownCall]:
    """With what people say of the tools, which comes before what their code says."""
    row = await journal.sessions.get(session)
    effects = {
        each.tool: each.effect for each in await journal.tool_effects.of(row.app if row else "")
    }
    return [replace(call, mark=effects.get(call.tool, call.mark)) for call in calls]


def was_cut_off(run: RunRow | None) -> bool:
    """Whether the run ended while its code was at work, by a stop or a crash."""
    if run is None or run.status not in {"stopped", "interrupted", "failed"}:
        return False
    return run.status != "failed" or _type_of(run.error) == "WorkerDied"


def _type_of(error: str | None) -> str:
    fields = json.loads(error) if error else None
    return str(fields.get("type")) if isinstance(fields, dict) else ""


async def _events(journal: Journal, session: int, invocation: str) -> list[_Stored]:
    """Those from the first on whose calls may be open; none of an invocation of very many events
    if all of its agents' last calls were answered."""
    first = await first_open_call(journal, session, invocation)
    if first is None:
        return []
    return await journal.events.of_invocation(session, invocation, after=first.seq - 1)


def _open_calls(events: Sequence[_Stored]) -> list[UnknownCall]:
    """Calls without a response in the last event with calls of each agent on each branch."""
    answered_ids = {each.id for _, event in events for each in event.responses}
    latest: dict[tuple[str, str | None], list[UnknownCall]] = {}
    for row, event in events:
        place = (row.author, row.branch)
        if event.calls:
            latest[place] = [*_calls(row, event)]
        elif _speaks(event):
            latest.pop(place, None)  # its model has gone on, and takes the calls for done with
    open_calls = [
        call for calls in latest.values() for call in calls if call.id not in answered_ids
    ]
    return sorted(open_calls, key=lambda call: call.event)


def _calls(row: EventRow, event: Event) -> Iterable[UnknownCall]:
    """Those of an event that act."""
    marks = event.metadata.get(EFFECTS) or {}
    for call in event.calls:
        if call.id and call.name not in FRAMEWORK_CALLS:
            yield UnknownCall(
                id=call.id,
                tool=call.name,
                agent=row.author,
                args=call.args,
                event=row.number,
                mark=marks.get(call.id),
                later=call.id in event.long_running_ids,
            )


def _speaks(event: Event) -> bool:
    says = any(part.text and not part.is_thought for part in event.parts)
    return says and not event.responses


async def _withheld(journal: Journal, run: RunRow) -> set[str | int]:
    """Calls, and numbers of events with calls, that were held when the run ended."""
    position = await journal.runs.position(run.id)
    withheld: set[str | int] = set()
    for hold in json.loads(position) if position else []:
        if hold["gate"] == "before_tool":
            withheld.add(str(hold["call"]))
        elif hold["gate"] == "after_commit":
            withheld.add(int(hold["number"]))
    return withheld


async def _stand_ins(journal: Journal, run: RunRow) -> dict[str, dict[str, Any]]:
    """What was answered in place of calls, which was not committed; by the calls' ids.

    It is in the journal before it acts; the effects that come with a recorded result are where it
    was taken from.
    """
    stand_ins: dict[str, dict[str, Any]] = {}
    for row in await journal.edits.list(run.session):
        edit = row.edit
        if edit.run != run.id or edit.gate != "before_tool" or edit.call is None:
            continue
        if edit.action in _ANSWERS:
            fields = {"is_made": False, "recorded": _answer(edit), "answered_by": edit.actor}
            did = await effects_taken(journal, run.session, edit) if edit.actor == GUARD else {}
            stand_ins[edit.call] = {**fields, "actions": did}
    return stand_ins


def _answer(edit: NewEdit) -> dict[str, Any]:
    value = json.loads(edit.after)
    if edit.action == "reject":
        return {"error": str(value)}
    if edit.action == "skip":
        return dict(SKIPPED)
    return value if isinstance(value, dict) else {"result": value}


@dataclass(frozen=True, slots=True)
class _ParentCall:
    """A call as the session has it that this one was forked from."""

    args: Mapping[str, Any]
    result: Mapping[str, Any] | None
    actions: Mapping[str, Any]


async def _in_parent(journal: Journal, fork: ForkRow, invocation: str) -> dict[str, _ParentCall]:
    """The calls of the invocation in the parent, by their ids; with the results behind the fork."""
    bodies = await journal.events.of_invocation(fork.parent, invocation)
    results = {
        str(each.id): each.result
        for row, event in bodies
        if row.number > fork.number
        for each in event.responses
        if each.id not in event.confirmations  # it only says that the call waits for a consent
    }
    did = await journal.spans.effects(fork.parent, results)
    return {
        call.id: _ParentCall(call.args, results.get(call.id), kept_actions(did.get(call.id, "{}")))
        for _, event in bodies
        for call in event.calls
        if call.id
    }
