"""Past tool calls with their results, for runs that repeat them."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from devui.debugger.guard.effects import FRAMEWORK_CALLS
from devui.debugger.questions.questions import REFUSAL
from devui.store.journal import Journal
from devui.wire.events import Event
from devui.wire.gates import EFFECTS, Effect

_OWN: Final = frozenset({"artifactDelta", "requestedAuthConfigs", "requestedToolConfirmations"})
"""Actions that concern only the original call: its files exist, its questions have been asked."""
MOST: Final = 2000
"""How many events are read for their results."""
_BEFORE: Final = 100
"""How many events before those are read for the calls."""
_NEWEST: Final = 500
"""How many of the newest events are searched for the last result of a call."""
_NAMING: Final = 100
"""How many of those that name the tool are read."""
_BATCH: Final = 20
"""How many events are read at a time."""
_NOT_CALLED: Final = (
    "{}() was not called",
    "{} was not called",
    "The MCP tool '{}' was not called",
    "Invoking `{}()` failed as the following mandatory input parameters are not present",
    str(REFUSAL["error"]),
)
"""Prefixes of the errors that either runtime returns instead of calling a tool, because its
arguments don't fit or a person rejected it. Only this wording distinguishes them from results."""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call whose result is in the journal."""

    tool: str
    args: Mapping[str, Any]
    result: Mapping[str, Any]
    """The function response."""
    session: int
    number: int
    """The number of the event with the result."""
    mark: Effect | None = None
    """The effect that the tool's code declared at that time."""
    effects: Mapping[str, Any] = field(default_factory=dict)
    """Its other effects: `EventActions` in wire form, without files and questions."""

    @property
    def is_made(self) -> bool:
        """Whether the tool was really called."""
        error = self.result.get("error")
        beginnings = tuple(each.format(self.tool) for each in _NOT_CALLED)
        return not (isinstance(error, str) and error.startswith(beginnings))


async def recorded_calls(
    journal: Journal, session: int, *, after: int = 0, until: int | None = None
) -> tuple[RecordedCall, ...]:
    """Return the calls of a session with results in the events `after` < number <= `until`.

    They are in the order of their results. Only the first `MOST` of these events are read.
    """
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
                continue  # the tool hasn't run: the call waits for a confirmation
            if (call_id := str(answer.id)) in calls and row.number > after:
                tool, args, mark = calls[call_id]
                record = RecordedCall(tool, args, answer.result, session, row.number, mark)
                results.append((call_id, record))
    effects = await journal.spans.effects(session, [call_id for call_id, _ in results])
    return tuple(
        replace(each, effects=kept_actions(effects[call_id])) if call_id in effects else each
        for call_id, each in results
    )


async def last_result(
    journal: Journal, session: int, tool: str, args: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Return what a tool last returned in a session for these arguments.

    None if the newest events that name the tool don't have a result. A response that only says that
    the call waits for a confirmation doesn't count.
    """
    row = await journal.sessions.get(session)
    events = row.events if row else 0
    name = json.dumps(tool, ensure_ascii=False)
    numbers = await journal.events.holding(
        session, name, first=max(1, events - _NEWEST + 1), last=events
    )
    results: dict[str | None, Mapping[str, Any]] = {}
    async for event in _events(journal, session, sorted(numbers, reverse=True)[:_NAMING]):
        for answer in event.responses:
            if answer.name == tool and answer.id not in event.confirmations:
                results.setdefault(answer.id, answer.result)
        for call in event.calls:
            if call.name == tool and call.args == args and call.id in results:
                return results[call.id]
    return None


async def _events(journal: Journal, session: int, numbers: Sequence[int]) -> AsyncIterator[Event]:
    """Yield the events with these descending numbers, reading them in batches."""
    for start in range(0, len(numbers), _BATCH):
        bodies = await journal.events.bodies(session, numbers[start : start + _BATCH])
        for _, event in reversed(bodies):
            yield event


def kept_actions(effects: str) -> dict[str, Any]:
    """Return the actions of a call to reuse with its result; `effects` is JSON text."""
    return {name: value for name, value in json.loads(effects).items() if name not in _OWN}
