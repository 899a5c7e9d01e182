"""Tool calls of the past with what they returned, as a run that comes by again may want them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from devui.debugger.guard.effects import FRAMEWORK_CALLS
from devui.store.journal import Journal
from devui.wire.events import Event
from devui.wire.gates import EFFECTS, Effect

_OWN: Final = frozenset({"artifactDelta", "requestedAuthConfigs", "requestedToolConfirmations"})
"""Actions that are about that one call: its files are where they are, its questions are asked."""
MOST: Final = 2000
"""Events whose results are read."""
_BEFORE: Final = 100
"""Events before them in which their calls are looked for."""
_NEWEST: Final = 500
"""Events in which the last result of a tool is looked for."""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call whose result is in the journal."""

    tool: str
    args: Mapping[str, Any]
    result: Mapping[str, Any]
    """The function response."""
    session: int
    number: int
    """The event with the result."""
    mark: Effect | None = None
    """What the tool's code said then that it does to the world."""
    effects: Mapping[str, Any] = field(default_factory=dict)
    """What it did besides: its `EventActions` in wire form, without files and questions."""


async def recorded_calls(
    journal: Journal, session: int, *, after: int = 0, until: int | None = None
) -> tuple[RecordedCall, ...]:
    """The answered calls of a session whose results are in events `after` < number <= `until`, in
    the order of their results; of very many events those behind the first."""
    session_row = await journal.sessions.get(session)
    events = session_row.events if session_row else 0
    last = events if until is None else min(until, events)
    calls: dict[str, tuple[str, Mapping[str, Any], Effect | None]] = {}
    results: list[tuple[str, RecordedCall]] = []
    numbers = range(max(1, after - _BEFORE), min(last, after + MOST) + 1)
    bodies = await journal.events.bodies(session, numbers)
    for row, event in bodies:
        marks = event.metadata.get(EFFECTS) or {}
        for part in event.parts:
            if call := part.call:
                calls[str(call.id)] = (call.name, call.args, marks.get(str(call.id)))
            if (answer := part.response) is None or answer.name in FRAMEWORK_CALLS:
                continue
            if answer.id in event.confirmations:
                continue  # it hasn't run: it only says that it waits for a consent
            if (call_id := str(answer.id)) in calls and row.number > after:
                tool, args, mark = calls[call_id]
                record = RecordedCall(tool, args, answer.result, session, row.number, mark)
                results.append((call_id, record))
    effects = await journal.spans.effects(session, [call_id for call_id, _ in results])
    return tuple(
        replace(each, effects=kept_actions(effects[call_id])) if call_id in effects else each
        for call_id, each in results
    )


async def last_result(journal: Journal, session: int, tool: str) -> Mapping[str, Any] | None:
    """What a tool returned last in a session; None if the newest events don't have it."""
    row = await journal.sessions.get(session)
    events = row.events if row else 0
    name = json.dumps(tool, ensure_ascii=False)
    numbers = await journal.events.holding(
        session, name, first=max(1, events - _NEWEST + 1), last=events
    )
    for number in sorted(numbers, reverse=True):
        body = await journal.events.body(session, number)
        if body and (result := _result(body[1], tool)) is not None:
            return result
    return None


def _result(event: Event, tool: str) -> Mapping[str, Any] | None:
    """What the event says the tool returned, which isn't that it waits for a consent."""
    answers = (each for each in event.responses if each.name == tool)
    return next((each.result for each in answers if each.id not in event.confirmations), None)


def kept_actions(effects: str) -> dict[str, Any]:
    """Of the actions of a call, as JSON text, those that go along with its result elsewhere."""
    return {name: value for name, value in json.loads(effects).items() if name not in _OWN}
