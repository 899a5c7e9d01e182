"""How a session stands, in a word: the same at the top of its page and in lists."""

from dataclasses import replace

from devui.debugger.open_questions import answer_lost, open_questions
from devui.store.rows import RunRow
from devui.web.parts.status import RunStatus
from devui.web.presenters.status import run_status
from devui.web.services import Services


async def newest_run(found: Services, session: int) -> RunStatus:
    """How the newest run of a session stands, as it is now."""
    return await run_of(found, session, await found.journal.runs.newest(session))


async def run_of(found: Services, session: int, run: RunRow | None) -> RunStatus:
    """The same, of the newest run as it was read.

    One that asked a person waits for the answer; one that is closed wants no attention any more.
    """
    if run is not None and run.closed:
        return replace(run_status(run), status="idle", word="closed")
    asked = run is not None and (run.status == "done" or answer_lost(run))
    if run is not None and asked and await open_questions(found.journal, run):
        return replace(run_status(run), word="waiting for you")
    live = found.runs.live(session)
    if live is None:
        return run_status(run)
    quiet = live.progressed.at if live.quiet else None
    return run_status(run, held=bool(live.stepper.holds), quiet=quiet)
