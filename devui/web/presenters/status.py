"""How a run stands, in a word."""

from typing import Final

from devui.store.rows import RunRow
from devui.web.links import session_url, stop_url
from devui.web.parts.status import RunStatus, Status
from devui.web.text.formats import moment

WORDS: Final[dict[Status, str]] = {
    "idle": "not run yet",
    "running": "running",
    "held": "paused",
    "stopping": "stopping",
    "done": "done",
    "failed": "failed",
    "stopped": "stopped",
    "interrupted": "interrupted",
}


def run_status(run: RunRow | None, *, held: bool = False, quiet: float | None = None) -> RunStatus:
    """The status of the session's newest run, None if there was none; `held` by the debugger.

    `quiet`: since when nothing has come of it, if that is worth saying (seconds since the epoch).
    """
    if run is None:
        return RunStatus("idle", WORDS["idle"])
    active = run.status == "running"
    status: Status = "held" if held and active else run.status
    return RunStatus(
        status=status,
        word=WORDS[status],
        stop_href=stop_url(run.id) if active else None,
        started=moment(run.started) if active else None,
        run=run.id,
        why_href="" if run.ended else session_url(run.session, tab="run"),
        quiet=moment(quiet) if quiet and active else None,
    )
