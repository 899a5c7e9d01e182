"""Rows that report how runs ended."""

import json
from typing import Final

from devui.store.rows import RunRow
from devui.web.basic_parts import Status
from devui.web.panels.runs.failure import run_failure
from devui.web.panels.timeline.parts import RunEnd
from devui.web.text.actors import by
from devui.web.text.formats import moment
from devui.wire.errors import LIMITED

ENDINGS: Final[dict[Status, str]] = {
    "failed": "The run failed",
    "stopped": "The run was stopped",
    "interrupted": "The run was interrupted: the server stopped",
}
"""The text for runs that didn't finish normally, by status."""

_AT_A_LIMIT: Final = "The run reached its limit"


def run_end(run: RunRow) -> RunEnd | None:
    """Return the row that reports a run's end; None for one in progress or finished normally."""
    if run.status not in ENDINGS:
        return None
    return RunEnd(
        run=run.id,
        status=run.status,
        text=ending(run),
        moment=moment(run.ended or run.started),
        failure=run_failure(run.error),
    )


def ending(run: RunRow) -> str:
    """Return a sentence about how a run ended."""
    error = json.loads(run.error) if run.error else None
    is_limited = isinstance(error, dict) and error.get("type") == LIMITED
    ending = _AT_A_LIMIT if is_limited else ENDINGS[run.status]
    return f"{ending} {by(run.stopped_by)}".rstrip()
