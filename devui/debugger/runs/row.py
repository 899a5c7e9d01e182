"""The row of a run, which is in the journal before the run begins."""

import json
import uuid

from devui.debugger.events.bus import Bus
from devui.debugger.events.news import News, RunChanged
from devui.debugger.runs.orders import request_text
from devui.debugger.runs.request import RunRequest
from devui.store.journal import Journal
from devui.store.rows import RunRow, SessionRow


async def write_row(
    journal: Journal,
    bus: Bus[News],
    session: SessionRow,
    request: RunRequest,
    *,
    follows: str | None,
    title: str | None,
) -> RunRow:
    """Write it; the run that it follows is done with that, which is told.

    The session takes the `title` if it has none.

    Raises RunActive when the session has a run already, and Overtaken when the user has said
    something that the request has not seen.
    """
    row = await journal.runs.start(
        uuid.uuid4().hex,
        session.key,
        invocation_id=request.invocation,
        message=json.dumps(request.pending_message) if request.pending_message else None,
        last_seen=request.last_seen,
        request=request_text(request),
        follows=follows,
        queued=request.queued,
        actor=request.actor,
        title=title,
    )
    if follows is not None and (before := await journal.runs.get(follows)) is not None:
        bus.publish(session.key, RunChanged(before))
    if (replay := request.replay) is not None:
        await journal.replays.begin(row.id, replay.source, live=replay.live_tools)
    return row
