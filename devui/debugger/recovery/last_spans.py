"""How far the calls of an invocation got, according to the last span of each."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from devui.debugger.guard.recorded_calls import kept_actions
from devui.store.journal import Journal
from devui.store.rows import EventRow
from devui.wire.events import Event
from devui.wire.spans import CANCELLED

FAILED_CALL: Final = "__adk_internal_failed_call"
"""Key of an event's custom metadata, the runtime's own mark: the call that has failed and that a
resume runs again, even if it is long-running."""


@dataclass(frozen=True, slots=True)
class LastSpan:
    """The last recorded span of a call."""

    run: str
    over: bool
    """Whether it returned or raised; false if it was in progress when its run was cut off."""
    result: Mapping[str, Any] | None = None
    """What it returned, if no event has that; also None if it returned nothing."""
    actions: Mapping[str, Any] = field(default_factory=dict)
    """What it did besides, such as writing to the state, in wire form; empty if an event has it."""
    error: str = ""
    """The exception it raised, such as `ConnectionError: 503`."""


async def last_spans(
    journal: Journal,
    session: int,
    events: Sequence[tuple[EventRow, Event]],
    runs: Sequence[str],
    *,
    calls: Collection[str],
) -> dict[str, LastSpan]:
    """Return the last span of each of these calls, by id; calls without a span are left out.

    `runs` are those of the session itself; `events` are those of the invocation from the first call
    on. Spans of a call from before an event marked it as failed don't count.
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
    """Return the actions to keep. Files are in the session already; the delta assigns them to the
    call."""
    files = json.loads(effects).get("artifactDelta")
    return kept_actions(effects) | ({"artifactDelta": files} if files else {})


def _result(text: str | None) -> Mapping[str, Any] | None:
    value = None if text is None else json.loads(text)
    return value if value is None or isinstance(value, dict) else {"result": value}
