"""Rows that report how runs ended."""

import json
from dataclasses import replace
from typing import Final

from devui.store.rows import EventRow, RunRow
from devui.web.basic_parts import Failure, Status
from devui.web.panels.runs.failure import run_failure
from devui.web.panels.timeline.parts import RunEnd
from devui.web.text.actors import by
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import moment
from devui.wire.errors import LIMITED

ENDINGS: Final[dict[Status, str]] = {
    "failed": "The run failed",
    "stopped": "The run was stopped",
    "interrupted": "The run was interrupted: the server stopped",
}
"""The text for runs that didn't finish normally, by status."""

_AT_A_LIMIT: Final = "The run reached its limit"


def run_end(run: RunRow, previous: EventRow | None = None) -> RunEnd | None:
    """Return the row that reports a run's end; None for one in progress or finished normally.

    It leaves out the message of an error that the row above it, of the event `previous`, has.
    """
    if run.status not in ENDINGS:
        return None
    return RunEnd(
        run=run.id,
        status=run.status,
        text=ending(run),
        moment=moment(run.ended or run.started),
        failure=_without_message(run_failure(run.error), previous),
    )


def _without_message(failure: Failure | None, previous: EventRow | None) -> Failure | None:
    if failure is None or previous is None or previous.kind != "error":
        return failure
    if visible(previous.summary.text).split() != failure.message.split():
        return failure
    return replace(failure, message="") if failure.place or failure.traceback else None


def ending(run: RunRow) -> str:
    """Return a sentence about how a run ended."""
    error = json.loads(run.error) if run.error else None
    is_limited = isinstance(error, dict) and error.get("type") == LIMITED
    ending = _AT_A_LIMIT if is_limited else ENDINGS[run.status]
    return f"{ending} {by(run.stopped_by)}".rstrip()
