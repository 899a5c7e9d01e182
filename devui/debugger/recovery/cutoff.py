"""How a session stands when no run is in progress: what can be resumed, and what was lost."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from devui.debugger.questions.open import answer_lost
from devui.debugger.recovery.unknown_calls import UnknownCall, unknown_calls
from devui.debugger.runs.live import LiveRun
from devui.debugger.runs.model_errors import final_error
from devui.store.journal import Journal
from devui.store.rows import EventRow, RunRow
from devui.store.runs.calls import has_answer, long_running_calls

CutoffStatus = Literal[
    "idle", "running", "held", "waiting", "stopped", "interrupted", "failed", "forked"
]
"""`waiting`: for a person's answer; `held`: by the debugger; `stopped`, `interrupted`, `failed`:
how the newest run ended, until it is resumed or closed; `forked`: in the middle of an invocation.
"""

RESUMABLE: frozenset[CutoffStatus] = frozenset({"stopped", "interrupted", "failed", "forked"})


@dataclass(frozen=True, slots=True)
class Cutoff:
    """How the newest invocation was left."""

    status: CutoffStatus
    run: RunRow | None = None
    invocation: str | None = None
    last: EventRow | None = None
    """The last committed event of the invocation."""
    question: int | None = None
    """The number of the event that asks a person, if any."""
    lost: tuple[Mapping[str, Any], ...] = ()
    """The holds that were lost, as in the `holds` of a position."""
    streamed: tuple[tuple[str, str], ...] = ()
    """Author and text of the answers that were being streamed."""
    unknown: tuple[UnknownCall, ...] = ()
    is_concluded: bool = False
    """Whether its agents have recorded that they are done, so that there is none to re-enter."""


async def is_over(journal: Journal, run: RunRow) -> bool:
    """Whether the run's invocation has nothing left to resume."""
    if run.status != "done" or run.invocation_id is None:
        return False
    error = await final_error(journal, run)
    return error is None or error != await _last(journal, run.session, run.invocation_id)


async def cutoff(journal: Journal, session: int, live: LiveRun | None) -> Cutoff:
    """Return how the session stands; `live` is its run in progress, if any."""
    if live is not None:
        status: CutoffStatus = "held" if live.stepper.holds else "running"
        return Cutoff(status, live.row, live.row.invocation_id)
    run = await journal.runs.newest(session)
    if run is None:
        return await _cutoff_of_fork(journal, session)
    if run.invocation_id is None or run.closed:
        return Cutoff("idle", run, run.invocation_id)
    last = await _last(journal, session, run.invocation_id)
    if run.status == "done" or answer_lost(run):
        question = await _question(journal, session, run.invocation_id)
        error = await final_error(journal, run) if question is None else None
        if error is not None:
            is_concluded = error != last
            return Cutoff("failed", run, run.invocation_id, error, is_concluded=is_concluded)
        status = "idle" if question is None else "waiting"
        return Cutoff(status, run, run.invocation_id, last, question)
    return Cutoff(
        _status_at_end(run),
        run,
        run.invocation_id,
        last,
        lost=await _lost_holds(journal, run),
        streamed=_streamed_texts(run),
        unknown=await unknown_calls(journal, session, run.invocation_id),
    )


def _status_at_end(run: RunRow) -> CutoffStatus:
    match run.status:
        case "stopped" | "interrupted" | "failed":
            return run.status
        case _:  # it is just ending
            return "running"


async def _cutoff_of_fork(journal: Journal, session: int) -> Cutoff:
    fork = await journal.forks.get(session)
    if fork is None or fork.invocation is None:
        return Cutoff("idle")
    question = await _question(journal, session, fork.invocation)
    return Cutoff(
        "forked" if question is None else "waiting",
        None,
        fork.invocation,
        await _last(journal, session, fork.invocation),
        question,
        unknown=await unknown_calls(journal, session, fork.invocation),
    )


async def _last(journal: Journal, session: int, invocation: str) -> EventRow | None:
    rows = await journal.events.rows_of_invocation(session, invocation, limit=1)
    return rows[0] if rows else None


async def _question(journal: Journal, session: int, invocation: str) -> int | None:
    """Return the number of the last event with a call that a person has yet to answer."""
    for row in reversed(await long_running_calls(journal, session, invocation)):
        calls = row.summary.calls
        call_ids = [call.id for call in calls if call.long_running and call.id]
        if not all([await has_answer(journal, row, each, by_user=True) for each in call_ids]):
            return row.number
    return None


async def _lost_holds(journal: Journal, run: RunRow) -> tuple[Mapping[str, Any], ...]:
    """Return the holds that were lost; what was held after its commit isn't."""
    position = await journal.runs.position(run.id)
    holds = json.loads(position) if position else []
    return tuple(hold for hold in holds if hold["gate"] != "after_commit")


def _streamed_texts(run: RunRow) -> tuple[tuple[str, str], ...]:
    answers = json.loads(run.unfinished) if run.unfinished else []
    return tuple((str(each["author"]), str(each["text"])) for each in answers)
