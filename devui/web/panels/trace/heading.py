"""The heading of the trace: which run it shows, and the runs before and after it."""

from devui.store.journal import Journal
from devui.store.rows import EventRow
from devui.web.links import session_url
from devui.web.page_query import TRACE
from devui.web.panels.timeline.rows import row_text
from devui.web.panels.trace.parts import RunHeading
from devui.web.text.formats import moment


async def run_heading(journal: Journal, session: int, run: str | None) -> RunHeading:
    """The heading of a run of the session. An event leads to its run, so runs without any, as of
    an app that doesn't load, are left out."""
    if run is None:
        return RunHeading("No runs yet")
    starts = await journal.totals.runs(session)
    runs = [*starts]
    place = runs.index(run) if run in starts else len(runs)

    def href(at: int) -> str:
        event = starts[runs[at]] if 0 <= at < len(runs) else None
        return session_url(session, event=event, view=TRACE) if event else ""

    if run not in starts:
        return RunHeading("No events yet", previous_href=href(place - 1))
    [row] = await journal.events.rows(session, [starts[run]])
    return RunHeading(
        title=await _message(journal, row),
        began=moment(row.timestamp),
        place=f"{place + 1:,} of {len(runs):,}" if len(runs) > 1 else "",
        previous_href=href(place - 1),
        next_href=href(place + 1),
    )


async def _message(journal: Journal, row: EventRow) -> str:
    """What the user said to the run that begins with this event: a retry has the message of the
    run before it."""
    if row.kind != "user":
        beginnings = await journal.events.beginnings(row.session, [row.invocation_id])
        [row] = await journal.events.rows(row.session, beginnings.values())
    return row_text(row.summary) if row.kind == "user" else "No message"
