"""Commits events: into the journal first, then out to whoever reads along (Law 3)."""

from dataclasses import replace

from devui.debugger.events.bus import Bus
from devui.debugger.events.checked import told_event
from devui.debugger.events.news import EventCommitted, News
from devui.debugger.events.summary import summarise
from devui.debugger.runs.attempts import Attempts
from devui.debugger.runs.lineage import Lineage
from devui.store.journal import Journal
from devui.store.rows import Appended, EventRow, NewEvent
from devui.wire.events import Event
from devui.wire.messages import Append


class Commits:
    """The one way an event gets into a session."""

    def __init__(self, journal: Journal, bus: Bus[News]) -> None:
        self._journal = journal
        self._bus = bus

    async def commit(
        self, session: int, event: NewEvent, *, run: str | None = None, chunks: int = 0
    ) -> Appended:
        """Append and publish; an event that was there already is not published again.

        `chunks` is how many fragments it arrived in. Raises StoreError.
        """
        result = await self._journal.events.append(session, event, run=run)
        if not result.duplicate:
            row = _row(event, result, session=session, run=run, chunks=chunks)
            self._bus.publish(session, EventCommitted(row, Event(event.data)))
        return result


def new_event(
    message: Append, lineage: Lineage | None = None, attempts: Attempts | None = None
) -> NewEvent:
    """Read what the journal indexes out of the event's JSON; the JSON itself is kept as it came.

    `lineage` and `attempts` are those of its run. Raises InvalidEvent when it is no event in ADK's
    wire form.
    """
    event = told_event(message.event)
    new = event_of(event, final=message.final, lineage=lineage, attempts=attempts)
    return replace(new, spans=tuple(message.spans))


def event_of(
    event: Event,
    *,
    final: bool,
    lineage: Lineage | None = None,
    attempts: Attempts | None = None,
) -> NewEvent:
    """The journal's row of an event."""
    path, lane = lineage.place(event.author, event.branch) if lineage else ("", 0)
    summary = summarise(event, final=final, path=path, lane=lane)
    if attempts is not None:
        summary = attempts.number(summary, event.invocation_id, event.branch)
    return NewEvent(
        id=event.id,
        invocation_id=event.invocation_id,
        author=event.author,
        branch=event.branch,
        timestamp=event.timestamp,
        kind=summary.kind,
        final=final,
        summary_json=summary.to_json(),
        data=event.text,
        state_delta=event.state_delta,
        tokens=summary.tokens or 0,
        usage=summary.usage,
        says=bool(event.parts),
        rewinds=event.rewinds_before,
    )


def _row(
    event: NewEvent, appended: Appended, *, session: int, run: str | None, chunks: int
) -> EventRow:
    """The row as the journal will hand it out, so that publishing needs no reading."""
    return EventRow(
        seq=appended.seq,
        number=appended.number,
        session=session,
        run=run,
        id=event.id,
        invocation_id=event.invocation_id,
        author=event.author,
        branch=event.branch,
        timestamp=event.timestamp,
        kind=event.kind,
        final=event.final,
        summary_json=event.summary_json,
        chunks=chunks,
        size=len(event.data.encode()),
        paused=event.paused,
    )
