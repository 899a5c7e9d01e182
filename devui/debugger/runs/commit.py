"""Commits events: first to the journal, then to everyone who reads the session (Law 3)."""

from dataclasses import replace
from types import MappingProxyType

from devui.debugger.events.bus import Bus
from devui.debugger.events.checked import checked_event
from devui.debugger.events.news import EventCommitted, News
from devui.debugger.events.summary import Changes, summarize
from devui.debugger.runs.attempts import Attempts
from devui.debugger.runs.lineage import Lineage
from devui.debugger.stepping.pauses import Pauses
from devui.store.journal import Journal
from devui.store.rows import Appended, EventRow, NewEvent, RunRow
from devui.store.summaries import OF_MODELS
from devui.wire.events import Event
from devui.wire.messages import Append


class Commits:
    """The only way for an event to get into a session."""

    def __init__(self, journal: Journal, bus: Bus[News]) -> None:
        self._journal = journal
        self._bus = bus

    async def commit(
        self, session: int, event: NewEvent, *, run: RunRow | None = None, chunks: int = 0
    ) -> Appended:
        """Append an event and publish it, unless the session already has it.

        `chunks` is the number of fragments it arrived in. Raises StoreError.
        """
        result = await self._journal.events.append(session, event, run=run.id if run else None)
        if not result.duplicate:
            row = _row(event, result, session=session, run=run, chunks=chunks)
            self._bus.publish(session, EventCommitted(row, Event(event.data)))
        return result


def new_event(
    message: Append,
    *,
    lineage: Lineage | None = None,
    attempts: Attempts | None = None,
    changes: Changes = MappingProxyType({}),
    pauses: Pauses | None = None,
) -> NewEvent:
    """Read the fields that the journal indexes from the event's JSON, which is stored unchanged.

    `lineage`, `attempts`, `changes` and `pauses` are those of its run. Raises InvalidEvent if it
    isn't an event in ADK's wire form.
    """
    event = checked_event(message.event)
    new = event_of(
        event,
        final=message.final,
        changed=message.changed,
        lineage=lineage,
        attempts=attempts,
        changes=changes,
        seconds=pauses.record_event(event.branch, event.timestamp) if pauses else None,
    )
    return replace(new, spans=tuple(message.spans))


def event_of(
    event: Event,
    *,
    final: bool,
    changed: bool = False,
    lineage: Lineage | None = None,
    attempts: Attempts | None = None,
    changes: Changes = MappingProxyType({}),
    seconds: float | None = None,
) -> NewEvent:
    """Return the journal's row of an event.

    `changed`: if it is a model's answer, the app's code has replaced it. `seconds` is how long its
    branch worked on it.
    """
    path, lane = lineage.place(event.author, event.branch) if lineage else ("", 0)
    summary = summarize(event, final=final, path=path, lane=lane, changes=changes)
    if seconds is not None:
        summary = replace(summary, seconds=round(seconds, 6))
    # Checkpoints are folded away, so the next event shows the round.
    if lineage and summary.kind != "checkpoint":
        number = lineage.round(event.author, event.branch)
        summary = replace(summary, round=number) if number else summary
    if changed and not summary.edited and summary.kind in OF_MODELS:
        summary = replace(summary, changed=True)
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
    event: NewEvent, appended: Appended, *, session: int, run: RunRow | None, chunks: int
) -> EventRow:
    """Return the row as the journal will return it, so that publishing needs no read."""
    return EventRow(
        seq=appended.seq,
        number=appended.number,
        session=session,
        run=run.id if run else None,
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
        began=run.started if run else None,
    )
