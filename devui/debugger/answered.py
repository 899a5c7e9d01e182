"""Calls of tools that somebody answered while the run was held, as calls of a recording.

Such a call never came to the tool, so nothing recorded it. What the person, or the guard, gave in
its place is known, and a replay gives it again.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from devui.store.rows import EditRow
from devui.wire.gates import IN_CALLS, is_answer
from devui.wire.recordings import RecordedCall

_Event = Mapping[str, Any]


def answered_calls(
    edits: Sequence[EditRow], run: str, events: Sequence[_Event], recorded: Sequence[RecordedCall]
) -> Iterator[RecordedCall]:
    """Those of a run, by its events and the calls that were recorded of it."""
    number = max((call.number for call in recorded), default=0)
    for edit in (row.edit for row in edits if row.edit.run == run):
        if edit.gate in IN_CALLS or not is_answer(edit.gate, edit.action):
            continue  # what was said within a call is recorded with it
        asked = _place(events, "functionCall", edit.call)
        place = _place(events, "functionResponse", edit.call)
        asker = next(
            (each for each in recorded if each.type == "model" and each.event == asked), None
        )
        if asked is None or place is None or asker is None:
            continue
        number += 1
        yield RecordedCall(
            number=number,
            parent=asker.parent,
            type="tool",
            name=edit.tool or "",
            agent=edit.agent,
            branch=asker.branch,
            call=edit.call,
            event=place,
            args=json.loads(edit.before).get("args"),
            result=json.loads(edit.after),
            effects=_effects(events[place], [each for each in recorded if each.event == place]),
        )


def _place(events: Sequence[_Event], part: str, call: str | None) -> int | None:
    """Where the event is that has this call, or its response."""
    for place, event in enumerate(events):
        parts = (event.get("content") or {}).get("parts") or []
        if any((each.get(part) or {}).get("id") == call for each in parts):
            return place
    return None


def _effects(event: _Event, others: Sequence[RecordedCall]) -> dict[str, Any]:
    """What the event wrote to the state and the other calls in it did not."""
    written = dict((event.get("actions") or {}).get("stateDelta") or {})
    for other in others:
        for key in other.effects.get("stateDelta") or {}:
            written.pop(key, None)
    return {"stateDelta": written} if written else {}
