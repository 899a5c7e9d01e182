"""A run's status in a word, and why it failed."""

from dataclasses import replace
from typing import Final

from devui.debugger.questions.open import answer_lost, open_questions
from devui.debugger.runs.model_errors import final_error
from devui.store.rows import RunRow
from devui.web.basic_parts import RunStatus, Status
from devui.web.links import session_url, stop_url
from devui.web.services import Services
from devui.web.text.actors import by
from devui.web.text.formats import moment

WORDS: Final[dict[Status, str]] = {
    "idle": "not run yet",
    "running": "running",
    "held": "paused",
    "waiting": "waiting for you",
    "stopping": "stopping",
    "done": "done",
    "failed": "failed",
    "stopped": "stopped",
    "interrupted": "interrupted",
}


def run_status(
    run: RunRow | None, *, is_held: bool = False, quiet: float | None = None
) -> RunStatus:
    """The status of the session's newest run, None if there was none; `is_held` by the debugger.

    `quiet`: since when nothing has come of it, if that is worth saying (seconds since the epoch).
    """
    if run is None:
        return RunStatus("idle", WORDS["idle"])
    active = run.status == "running"
    status: Status = "held" if is_held and active else run.status
    return RunStatus(
        status=status,
        word=WORDS[status],
        stop_href=stop_url(run.id) if active else None,
        start=moment(run.started) if active else None,
        run=run.id,
        by=_actor(run),
        why_href="" if run.ended else session_url(run.session, tab="run"),
        quiet=moment(quiet) if quiet and active else None,
    )


def _actor(run: RunRow) -> str:
    if run.stopped_by is not None:
        return by(run.stopped_by)
    author = by(run.actor)
    return f"started {author}" if author else ""


async def newest_run(services: Services, session: int) -> RunStatus:
    """How the newest run of a session stands, as it is now."""
    return await run_of(services, session, await services.journal.runs.newest(session))


async def run_of(services: Services, session: int, run: RunRow | None) -> RunStatus:
    """The same, of the newest run as it was read.

    One that asked a person waits for the answer; one that a model's error ended has failed; one
    that is closed wants no attention any more.
    """
    if run is not None and run.closed:
        return replace(run_status(run), status="idle", word="closed")
    may_ask = run is not None and (run.status == "done" or answer_lost(run))
    if run is not None and may_ask and await open_questions(services.journal, run):
        return replace(run_status(run), status="waiting", word=WORDS["waiting"])
    if run is not None and await final_error(services.journal, run):
        return replace(run_status(run), status="failed", word=WORDS["failed"])
    live = services.runs.live(session)
    if live is None:
        return run_status(run)
    quiet = live.progressed.at if live.quiet else None
    return run_status(run, is_held=bool(live.stepper.holds), quiet=quiet)
