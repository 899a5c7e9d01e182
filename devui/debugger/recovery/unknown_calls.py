"""Tool calls whose outcome is unknown, because the run was cut off while they were in progress.

The event with the call is committed before the tool runs. So a call without a response in a run
that was cut off may have been made, unless the debugger held it, which is in the journal too. If
the tool had already returned, its span has the result and what the tool wrote to the state. In a
run that failed by itself, a call without a response has raised, or ran beside one that did: it runs
again unless someone gives a result. A call whose arguments were edited in a fork has never run with
them, so a result recorded in the parent isn't its own.

A long-running call has no response either, so only its span tells: if it ended with nothing, the
call waits for its answer; if it didn't end, nobody knows whether the call was made.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from devui.debugger.guard.effects import FRAMEWORK_CALLS
from devui.debugger.guard.recorded_calls import kept_actions
from devui.debugger.guard.run_guard import effects_taken
from devui.debugger.recovery.last_spans import LastSpan, last_spans
from devui.store.journal import Journal
from devui.store.rows import EventRow, ForkRow, NewEdit, RunRow
from devui.store.runs.calls import first_open_call, has_event_by
from devui.wire.events import Event
from devui.wire.gates import EFFECTS, GUARD, SKIPPED, Effect

Choice = Literal["run", "fail", "recorded", "wait"]
_ANSWERS: Final = frozenset({"mock", "skip", "reject"})
_TEMPORARY: Final = "temp:"
_StoredEvent = tuple[EventRow, Event]
_HELD_BACK: Final[dict[str, Any]] = {"is_made": False, "recorded": None, "answered_by": ""}


@dataclass(frozen=True, slots=True)
class UnknownCall:
    """A call that may have been made."""

    id: str
    tool: str
    agent: str
    args: Mapping[str, Any]
    event: int
    """The number of the event with the call."""
    mark: Effect | None = None
    """The effect of the tool, if anyone declares it."""
    recorded: Mapping[str, Any] | None = None
    """What the call returned before its run was cut off, or in the session that this one was
    forked from."""
    actions: Mapping[str, Any] = field(default_factory=dict)
    """What it did besides returning that, in wire form."""
    in_parent: bool = False
    """Whether it was made in the session that this one was forked from."""
    long_running: bool = False
    """Whether it is long-running, so that waiting for its answer is possible, too."""
    is_made: bool = True
    """False if it is known not to have been made, for example because the debugger held it."""
    answered_by: str = ""
    """Who gave the answer in `recorded` in place of the call, which wasn't made; "" for nobody."""
    is_edited: bool = False
    """Whether its arguments differ from those in the session that this one was forked from."""
    is_failed: bool = False
    """Whether its run failed by itself: it raised, or ran beside a call that did."""
    error: str = ""
    """The exception it raised, such as `ConnectionError: 503`, if that was recorded."""

    @property
    def writes(self) -> Mapping[str, Any]:
        """The state that comes with the recorded result, without `temp:` keys."""
        delta = self.actions.get("stateDelta") or {}
        return {key: value for key, value in delta.items() if not key.startswith(_TEMPORARY)}

    @property
    def default(self) -> Choice:
        """The suggested decision: avoid acting twice without permission."""
        if self.recorded is not None:
            return "recorded"
        if not self.is_made or self.is_failed or self.mark not in {None, "effects"}:
            return "run"
        return "wait" if self.long_running else "fail"

    @property
    def needs_decision(self) -> bool:
        """Whether someone has to decide about it."""
        safe = self.is_failed or self.mark in {"idempotent", "read_only"}
        return self.is_made and not safe


async def unknown_calls(journal: Journal, session: int, invocation: str) -> tuple[UnknownCall, ...]:
    """Return the calls to decide about before the invocation is resumed, in order."""
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
        if not await has_event_by(journal, session, invocation, call.tool)  # a call to an agent
    ]
    if not candidates:
        return ()
    open_calls = await _with_effects(journal, session, candidates)
    own = [run.id for run in reversed(runs) if run.invocation_id == invocation]
    spans = await last_spans(journal, session, events, own, calls=[call.id for call in open_calls])
    if newest is not None and not was_cut_off(newest):
        return tuple(
            replace(call, is_failed=True, error=_error(spans.get(call.id)))
            for call in open_calls
            if not call.long_running
        )
    if newest is not None:
        withheld = await _withheld(journal, newest)
        given_answers = await _given_answers(journal, newest)
        calls = [replace(call, **given_answers.get(call.id, {})) for call in open_calls]
        undecided = [_as_left(call, spans.get(call.id), newest, withheld) for call in calls]
        return tuple(call for call in undecided if call is not None)
    parent = await _in_parent(journal, through, invocation) if through else {}
    return tuple(
        replace(call, **_since_fork(call, parent.get(call.id), _error(spans.get(call.id))))
        for call in open_calls
        if not call.long_running or ((span := spans.get(call.id)) and not span.over)
    )


def _error(span: LastSpan | None) -> str:
    return span.error if span else ""


def _since_fork(call: UnknownCall, before: "_ParentCall | None", error: str) -> dict[str, Any]:
    """Return what the parent's record tells about a call that the fork cut off from its result."""
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
    """Return the call as the cut-off run left it; None if no decision about it is needed."""
    if call.id in held_calls or call.event in held_calls:
        return replace(call, **_HELD_BACK) if call.long_running else None
    if span is not None and call.long_running and span.over and span.result is None:
        return None  # it waits, or has failed and runs again
    if span is None or not (call.long_running or span.run == newest.id):
        return call
    return replace(call, recorded=span.result, actions=span.actions, is_made=True, answered_by="")


async def _with_effects(
    journal: Journal, session: int, calls: Sequence[UnknownCall]
) -> list[UnknownCall]:
    """Return the calls with the effects that people declared for their tools, if they did."""
    row = await journal.sessions.get(session)
    effects = {
        each.tool: each.effect for each in await journal.tool_effects.of(row.app if row else "")
    }
    return [replace(call, mark=effects.get(call.tool, call.mark)) for call in calls]


def was_cut_off(run: RunRow | None) -> bool:
    """Whether the run was ended by a stop or a crash while its code was at work."""
    if run is None or run.status not in {"stopped", "interrupted", "failed"}:
        return False
    return run.status != "failed" or _type_of(run.error) == "WorkerDied"


def _type_of(error: str | None) -> str:
    fields = json.loads(error) if error else None
    return str(fields.get("type")) if isinstance(fields, dict) else ""


async def _events(journal: Journal, session: int, invocation: str) -> list[_StoredEvent]:
    """Return the events from the first with an open call on. There are none if all of the agents'
    last calls were answered, so that long invocations aren't read needlessly."""
    first = await first_open_call(journal, session, invocation)
    if first is None:
        return []
    return await journal.events.of_invocation(session, invocation, after=first.seq - 1)


def _open_calls(events: Sequence[_StoredEvent]) -> list[UnknownCall]:
    """Return the unanswered calls in the last event with calls of each agent on each branch."""
    answered_ids = {each.id for _, event in events for each in event.responses}
    latest: dict[tuple[str, str | None], list[UnknownCall]] = {}
    for row, event in events:
        place = (row.author, row.branch)
        if event.calls:
            latest[place] = [*_calls(row, event)]
        elif _speaks(event):
            latest.pop(place, None)  # its model has moved on and considers the calls done
    open_calls = [
        call for calls in latest.values() for call in calls if call.id not in answered_ids
    ]
    return sorted(open_calls, key=lambda call: call.event)


def _calls(row: EventRow, event: Event) -> Iterable[UnknownCall]:
    """Yield the calls of an event, except the framework's own."""
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
                long_running=call.id in event.long_running_ids,
            )


def _speaks(event: Event) -> bool:
    says = any(part.text and not part.is_thought for part in event.parts)
    return says and not event.responses


async def _withheld(journal: Journal, run: RunRow) -> set[str | int]:
    """Return the ids of calls, and the numbers of events with calls, that were held at the end."""
    position = await journal.runs.position(run.id)
    withheld: set[str | int] = set()
    for hold in json.loads(position) if position else []:
        if hold["gate"] == "before_tool":
            withheld.add(str(hold["call"]))
        elif hold["gate"] == "after_commit":
            withheld.add(int(hold["number"]))
    return withheld


async def _given_answers(journal: Journal, run: RunRow) -> dict[str, dict[str, Any]]:
    """Return the answers that were given in place of the run's calls, by call id.

    They are in the journal even if they weren't committed. The effects of a recorded result are
    read from where it was recorded.
    """
    given_answers: dict[str, dict[str, Any]] = {}
    for row in await journal.edits.list(run.session):
        edit = row.edit
        if edit.run != run.id or edit.gate != "before_tool" or edit.call is None:
            continue
        if edit.action in _ANSWERS:
            fields = {"is_made": False, "recorded": _answer(edit), "answered_by": edit.actor}
            did = await effects_taken(journal, run.session, edit) if edit.actor == GUARD else {}
            given_answers[edit.call] = {**fields, "actions": did}
    return given_answers


def _answer(edit: NewEdit) -> dict[str, Any]:
    value = json.loads(edit.after)
    if edit.action == "reject":
        return {"error": str(value)}
    if edit.action == "skip":
        return dict(SKIPPED)
    return value if isinstance(value, dict) else {"result": value}


@dataclass(frozen=True, slots=True)
class _ParentCall:
    """A call as it is in the session that this one was forked from."""

    args: Mapping[str, Any]
    result: Mapping[str, Any] | None
    actions: Mapping[str, Any]


async def _in_parent(journal: Journal, fork: ForkRow, invocation: str) -> dict[str, _ParentCall]:
    """Return the invocation's calls in the parent, by id, with their results after the fork."""
    bodies = await journal.events.of_invocation(fork.parent, invocation)
    results = {
        str(each.id): each.result
        for row, event in bodies
        if row.number > fork.number
        for each in event.responses
        if each.id not in event.confirmations  # the call still waits for a confirmation
    }
    did = await journal.spans.effects(fork.parent, results)
    return {
        call.id: _ParentCall(call.args, results.get(call.id), kept_actions(did.get(call.id, "{}")))
        for _, event in bodies
        for call in event.calls
        if call.id
    }
