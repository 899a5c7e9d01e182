"""What runs wrote to their state before a commit, who read it meanwhile, and what became of it."""

from itertools import groupby
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.uncommitted import followed, told
from devui.web.api.debug import answer, number_in
from devui.web.presenters.uncommitted import is_over, touches_of
from devui.web.views.lookup import session_of

_MOST = 10_000


async def show(request: Request) -> Response:
    """Writes and reads of a session: of all its runs, or of `?run=`, or at event `?event=`."""
    found, session = await session_of(request)
    run, event = request.query_params.get("run"), number_in(request, "event")
    if run is None:
        rows = await found.journal.uncommitted.of_session(session.key, _MOST)
        live = found.runs.live(session.key)
        if live is not None:
            rows = [row for row in rows if row.run != live.row.id]
            rows += live.touches.rows(live.row.id, session.key)
    else:
        of_run = await touches_of(found, session.key, run)
        rows = [row for row in of_run if row.session == session.key]
    writes: list[dict[str, Any]] = []
    reads: list[dict[str, Any]] = []
    for name, group in groupby(rows, key=lambda row: row.run):
        for item in followed(group, over=is_over(found, session.key, name)):
            if event is None or event in {item.event, item.flagged}:
                kept = writes if item.touch.reads is None else reads
                kept.append(told(item, name))
    return answer({"writes": writes, "reads": reads})
