"""The edits that people made in a run, for its recording, so that a replay makes them again.

The edits that a replay repeats aren't journaled as its own. Its recording takes them from the run
that it replays, whose events are in the same places.
"""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from devui.store.journal import Journal
from devui.store.rows import EditRow, NewEdit, RunRow
from devui.wire.events import Event
from devui.wire.gates import EDITED, HANDS
from devui.wire.recordings import RecordedCall, RecordedEdit

_Numbered = Sequence[tuple[int, Event]]
"""Events with their numbers in the session."""


@dataclass(frozen=True, slots=True)
class RunHistory:
    """What a run produced."""

    events: _Numbered
    calls: Sequence[RecordedCall]
    pieces: Mapping[str, Any]
    """The pieces of its model requests, by name."""


async def edits_by_hand(journal: Journal, run: RunRow, history: RunHistory) -> list[RecordedEdit]:
    """Return the edits that shaped a run, in order, including those it repeats as a replay."""
    own = await _own(journal, run, history)
    replay = await journal.replays.get(run.id)
    source = await journal.runs.get(replay.source) if replay else None
    if source is None:
        return own
    before = await journal.replays.events(source.session, source.id)
    await asyncio.to_thread(lambda: [event.read() for _, event in before])
    earlier = await edits_by_hand(journal, source, replace(history, events=before))
    return [*(_with_own_ids(edit, before, history.events) for edit in earlier), *own]


async def _own(journal: Journal, run: RunRow, history: RunHistory) -> list[RecordedEdit]:
    rows = [row for row in await journal.edits.list(run.session) if row.edit.run == run.id]
    rows = [row for row in rows if row.edit.gate in HANDS]
    if not rows:
        return []
    drop_places = await _drop_places(journal, rows, history.events)
    return [_edit(row, drop_places, history) for row in rows]


async def _drop_places(
    journal: Journal, rows: Sequence[EditRow], events: _Numbered
) -> Mapping[int, int]:
    """Return, by edit, how many events of the run were committed before the one that it dropped."""
    places = {}
    for row in rows:
        if row.seq is not None:
            rows_before = await journal.events.page(row.session, before=row.seq, limit=1)
            last = rows_before[-1].number if rows_before else 0
            places[row.id] = sum(number <= last for number, _ in events)
    return places


def _edit(row: EditRow, drop_places: Mapping[int, int], history: RunHistory) -> RecordedEdit:
    edit, events = row.edit, [event for _, event in history.events]
    place = drop_places.get(row.id)
    if place is None:
        place = next((n for n, event in enumerate(events) if _came_of(event, row)), None)
    is_answer = edit.gate == "before_tool" and edit.action == "mock" and place is not None
    others = [call for call in history.calls if call.event == place]
    return RecordedEdit(
        gate=edit.gate,  # type: ignore[arg-type]  # of `HANDS`
        action=edit.action,  # type: ignore[arg-type]  # the journal's CHECK says so
        agent=edit.agent,
        tool=edit.tool,
        call=edit.call if edit.tool else None,
        place=place,
        turn=edit.turn if _has_equals(edit, history) else None,
        held=without_marks(json.loads(edit.before)),
        value=without_marks(json.loads(edit.after)),
        effects=_effects(events[place or 0], others) if is_answer else {},
    )


def _has_equals(edit: NewEdit, history: RunHistory) -> bool:
    """Whether other calls of the agent came to this gate with the same content as the held one.

    A call that was answered in place of its tool or model isn't among the run's calls.
    """
    identity, own = _identity(edit), _own_call(edit, history.calls)
    kind = "tool" if edit.tool else "model"
    return any(
        (call.type, call.agent) == (kind, edit.agent)
        and call.name == (edit.tool or call.name)
        and call is not own
        and _stood_with(edit.gate, call, history.pieces) == identity
        for call in history.calls
    )


def _identity(edit: NewEdit) -> Any:
    """Return what distinguishes a held call from others; for a request, the conversation so far."""
    payload = json.loads(edit.before)
    if edit.tool:
        return payload.get("args")
    return payload.get("contents") if edit.gate == "before_model" else payload


def _stood_with(gate: str, call: RecordedCall, pieces: Mapping[str, Any]) -> Any:
    """Return the same for a call that was made."""
    if call.type == "tool":
        return call.args
    if gate == "before_model":
        return [pieces.get(name) for name in call.request.contents] if call.request else None
    return call.responses[-1][1] if call.responses else None


def _own_call(edit: NewEdit, calls: Sequence[RecordedCall]) -> RecordedCall | None:
    """Return the call that was held, if it was made; an edited request makes a different call."""
    if edit.tool:
        return next((call for call in calls if edit.call and call.call == edit.call), None)
    calls_so_far = [call for call in calls if call.agent == edit.agent][: edit.turn or 0]
    return calls_so_far[-1] if edit.gate == "after_model" and calls_so_far else None


def _came_of(event: Event, row: EditRow) -> bool:
    marks = event.metadata.get(EDITED) or []
    return any(mark.get("edit") == row.id for mark in marks)


def _with_own_ids(edit: RecordedEdit, before: _Numbered, events: _Numbered) -> RecordedEdit:
    """Return the edit with the ids of a run whose events are in the same places."""
    names: dict[str, str] = {}
    for (_, other), (_, own) in zip(before, events, strict=False):
        names |= {
            theirs: ours
            for theirs, ours in zip(_ids(other), _ids(own), strict=False)
            if theirs and ours and theirs != ours
        }
    if not names:
        return edit
    pattern = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    text = re.sub(pattern, lambda match: names[match[0]], json.dumps(asdict(edit)))
    return RecordedEdit(**json.loads(text))


def without_marks(value: Any) -> Any:
    """Return a held event without the marks of people's edits, and any other value unchanged."""
    labels = value.get("customMetadata") if isinstance(value, dict) else None
    if not isinstance(labels, dict) or EDITED not in labels:
        return value
    rest = {name: each for name, each in labels.items() if name != EDITED}
    return {**value, "customMetadata": rest or None}


def _ids(event: Event) -> list[str | None]:
    """Return the ids that differ from run to run, in order."""
    calls = [
        each.id if each else None for part in event.parts for each in (part.call, part.response)
    ]
    return [event.invocation_id, *calls]


def _effects(event: Event, others: Sequence[RecordedCall]) -> dict[str, Any]:
    """Return what the event wrote to the state, except for what its other calls wrote."""
    delta = dict(event.state_delta)
    for other in others:
        for key in other.effects.get("stateDelta") or {}:
            delta.pop(key, None)
    return {"stateDelta": delta} if delta else {}
