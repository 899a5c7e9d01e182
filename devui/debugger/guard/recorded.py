"""Tool calls of the past with what they returned, as a run that comes by again may want them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from devui.debugger.guard.effects import FRAMEWORK_CALLS
from devui.store.journal import Journal
from devui.wire.gates import EFFECTS, Effect

_OWN: Final = frozenset({"artifactDelta", "requestedAuthConfigs", "requestedToolConfirmations"})
"""Actions that are about that one call: its files are where they are, its questions are asked."""
MOST: Final = 2000
"""Events whose results are read."""
_BEFORE: Final = 100
"""Events before them in which their calls are looked for."""


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
    row = await journal.sessions.get(session)
    last = min(until, row.events) if row and until is not None else row.events if row else 0
    calls: dict[str, tuple[str, Mapping[str, Any], Effect | None]] = {}
    found: list[tuple[str, RecordedCall]] = []
    numbers = range(max(1, after - _BEFORE), min(last, after + MOST) + 1)
    bodies = await journal.events.bodies(session, numbers)
    for event, data in bodies:
        told = json.loads(data)
        marks = (told.get("customMetadata") or {}).get(EFFECTS) or {}
        for kind, part in _parts(told):
            called, name = str(part.get("id")), str(part.get("name") or "")
            if kind == "functionCall":
                calls[called] = (name, part.get("args") or {}, marks.get(called))
            elif called in calls and event.number > after and name not in FRAMEWORK_CALLS:
                tool, args, mark = calls[called]
                result = part.get("response") or {}
                call = RecordedCall(tool, args, result, session, event.number, mark)
                found.append((called, call))
    effects = await journal.spans.effects(session, [called for called, _ in found])
    return tuple(
        replace(call, effects=kept_actions(effects[called])) if called in effects else call
        for called, call in found
    )


def kept_actions(effects: str) -> dict[str, Any]:
    """Of the actions of a call, as JSON text, those that go along with its result elsewhere."""
    return {name: told for name, told in json.loads(effects).items() if name not in _OWN}


def _parts(event: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for part in (event.get("content") or {}).get("parts") or []:
        for kind in ("functionCall", "functionResponse"):
            if isinstance(part, dict) and part.get(kind):
                yield kind, part[kind]
