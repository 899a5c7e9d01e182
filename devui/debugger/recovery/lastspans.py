"""How far the calls of an invocation got, by the last that was recorded of each."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from devui.debugger.guard.recorded import kept_actions
from devui.store.journal import Journal
from devui.store.rows import EventRow
from devui.wire.events import Event
from devui.wire.spans import CANCELLED

FAILED_CALL: Final = "__adk_internal_failed_call"
"""Key of an event's custom metadata: the call that has failed and is run again by a resume, also if
it is one that is answered later. The runtime's own mark."""


@dataclass(frozen=True, slots=True)
class LastSpan:
    """The last that is recorded of a call."""

    run: str
    over: bool
    """It returned or raised; false if it was going on when its run was cut off."""
    result: Mapping[str, Any] | None = None
    """What it returned, if no event has that; None also for nothing."""
    actions: Mapping[str, Any] = field(default_factory=dict)
    """What it did besides, such as writing to the state, in wire form; with a result alone."""
    error: str = ""
    """The exception it raised: `ConnectionError: 503`."""


async def lasting(
    journal: Journal,
    session: int,
    events: Sequence[tuple[EventRow, Event]],
    runs: Sequence[str],
    *,
    calls: Collection[str],
) -> dict[str, LastSpan]:
    """By id, those of these calls that have a span; `runs` are those in the session itself.

    `events` are those of their invocation from the first of them on. What is recorded of a call
    before it was said to have failed does not count any more.
    """
    parent_runs = dict.fromkeys(row.run for row, _ in events if row.run and row.run not in runs)
    failed_calls = [(row.run, _failed_call(event)) for row, event in events if _failed_call(event)]
    spans: dict[str, LastSpan] = {}
    for run in (*parent_runs, *runs):
        for call in [call for of, call in failed_calls if of == run]:
            spans.pop(call, None)
        for span in await journal.spans.of_run(session, run, calls=calls):
            if not span.call:
                continue
            over = span.seconds is not None and span.error != CANCELLED
            spans[span.call] = LastSpan(run, over, error=span.error or "" if over else "")
            if over and span.event is None and span.error is None:
                _, result, did = await journal.spans.bodies(span)
                spans[span.call] = LastSpan(run, over, _result(result), _did(did or "{}"))
    return spans


def _failed_call(event: Event) -> str:
    return str(event.metadata.get(FAILED_CALL) or "")


def _did(effects: str) -> dict[str, Any]:
    """Its files are in the session already; that they are of this call is told by their delta."""
    files = json.loads(effects).get("artifactDelta")
    return kept_actions(effects) | ({"artifactDelta": files} if files else {})


def _result(text: str | None) -> Mapping[str, Any] | None:
    value = None if text is None else json.loads(text)
    return value if value is None or isinstance(value, dict) else {"result": value}
