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
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import moment
from devui.wire.inspection import Inspection

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
    """Return the status of a session's newest run; `run` is None if it had none.

    `is_held` is whether the debugger holds the run; `quiet` is when it last made progress, in
    seconds since the epoch, if the status should say so.
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


async def _with_errors(services: Services, session: int, status: RunStatus) -> RunStatus:
    """Add failures to the status of a run that is done: a list would hide them otherwise."""
    if status.status != "done":
        return status
    errors = await services.journal.events.failures(session)
    return replace(status, errors=errors, errors_href=session_url(session, only="is:error"))


async def newest_run(services: Services, session: int) -> RunStatus:
    """Return the current status of a session's newest run."""
    return await run_of(services, session, await services.journal.runs.newest(session))


async def run_of(services: Services, session: int, run: RunRow | None) -> RunStatus:
    """Return the status of a session's newest run, which the caller has read.

    A run that asked a person waits for the answer; one that ended with a model's error has failed;
    a closed one needs no more attention. A session that was created with its events has not run
    here, and a fork with events is "forked" until it is continued.
    """
    if run is None:
        return replace(run_status(None), word=await _word_without_runs(services, session))
    if run.closed:
        return replace(run_status(run), status="idle", word="closed")
    may_ask = run.status == "done" or answer_lost(run)
    if may_ask and await open_questions(services.journal, run):
        return replace(run_status(run), status="waiting", word=WORDS["waiting"])
    if await final_error(services.journal, run):
        return replace(run_status(run), status="failed", word=WORDS["failed"])
    live = services.runs.live(session)
    if live is None:
        status = run_status(run)
    else:
        quiet = live.last_progress.at if live.quiet else None
        status = run_status(run, is_held=bool(live.stepper.holds), quiet=quiet)
        if status.quiet and live.answers:
            status = replace(status, waits_for=_calls(live.inspection))
    return await _with_errors(services, session, status)


async def _word_without_runs(services: Services, session: int) -> str:
    """Return the status of a session without runs of its own: its events may come from elsewhere,
    or from a fork's parent."""
    if fork := await services.journal.forks.get(session):
        return "forked" if fork.at else WORDS["idle"]
    first = await services.journal.events.rows(session, [1])
    has_message = any(row.kind == "user" and row.run is None for row in first)
    return "not run here" if has_message else WORDS["idle"]


def _calls(inspection: Inspection | None) -> str:
    """Return what the run waits for: the latest call, which the others may be waiting for too."""
    calls = sorted(inspection.calls, key=lambda call: call.since) if inspection else []
    others = f" and {len(calls) - 1} more" if len(calls) > 1 else ""
    return visible(calls[-1].name) + others if calls else ""
