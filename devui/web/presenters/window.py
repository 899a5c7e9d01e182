"""A window of a session: the events around some point, as rows and as messages.

Pages read only what they show: rows come from summaries, bodies are read for the chat alone, and of
a very large event neither shows more than its summary.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from devui.debugger.askers import Asker, askers_in
from devui.debugger.rewinds import NOTHING_TAKEN, TakenBack, taken_back
from devui.debugger.summary import Summary
from devui.store.journal import Journal
from devui.store.rows import EditRow, EventRow, NoteRow, RunRow
from devui.web.parts.chat import ChatMessage
from devui.web.parts.session import RunNote
from devui.web.parts.timeline import TimelineItem
from devui.web.presenters.chat import Answered, conversation
from devui.web.presenters.dropped import with_dropped
from devui.web.presenters.lostreads import Lost, lost_reads, marked
from devui.web.presenters.margins import Margins
from devui.web.presenters.rewound import taken_marked
from devui.web.presenters.rows import timeline_items
from devui.web.presenters.runs import run_end, run_note

SIZE = 80
"""Events in the window that a page begins with, and in each one before it: a few screens."""
_AROUND = 120
"""Events in the window around one that was asked for."""
_LARGE = 256 * 1024
"""Bytes from which on an event's body is not read for the chat."""


@dataclass(frozen=True, slots=True)
class Window:
    """Some events in order, and the runs that ended among them other than by finishing."""

    session: int
    events: tuple[tuple[EventRow, Summary], ...]
    bodies: dict[int, dict[str, Any]]
    """The events' JSON by number."""
    ends: tuple[RunRow, ...]
    previous: EventRow | None
    """The event before the window."""
    running: str | None = None
    """The run that is under way."""
    lost: Lost = field(default_factory=dict, kw_only=True)
    """The marks of those that read from the state what was lost, by their numbers."""
    drops: tuple[EditRow, ...] = ()
    """The events among them that people let fall."""
    notes: Mapping[int, NoteRow] = field(default_factory=dict)
    """What people say of events, by their numbers."""
    askers: Mapping[str, Asker] = field(default_factory=dict)
    """What needs what the events ask people for, by the ids of the calls that ask."""
    later: tuple[tuple[EventRow, Summary], ...] = ()
    """Some of the events that follow: calls of the window may have their results there."""
    cut: str | None = None
    """The invocation in whose middle the session was forked, while no run of its own goes on."""
    taken: TakenBack = NOTHING_TAKEN
    """What of the session counts no more."""

    def items(self, margins: Margins, selected: int | None = None) -> tuple[TimelineItem, ...]:
        """The rows of the timeline."""
        items: list[TimelineItem] = []
        before, drops = self.previous, self.drops
        for events, end in self._segments():
            rows = timeline_items(
                events, margins, previous=before, selected=selected, notes=self.notes
            )
            here = [drop for drop in drops if end is None or (drop.seq or 0) < end.seq]
            drops = drops[len(here) :]
            items += with_dropped(rows, (row for row, _ in events), here)
            before = events[-1][0] if events else before
            row = run_end(end) if end else None
            items += [row] if row else []
        return taken_marked(marked(items, self.lost), self.taken, self.session)

    def messages(self) -> tuple[ChatMessage | RunNote, ...]:
        """The messages of the chat."""
        messages: list[ChatMessage | RunNote] = []
        known = ((row.number, row.author, s) for row, s in (*self.events, *self.later))
        answered = Answered.of(known, self.session)
        for events, end in self._segments():
            told = [(row.number, self.bodies[row.number], summary) for row, summary in events]
            going_on = next((row.number for row, _ in events if self._goes_on(row)), None)
            messages += conversation(
                told,
                session=self.session,
                going_on=going_on,
                askers=self.askers,
                answered=answered,
                cut=self.cut,
            )
            failed = bool(events) and events[-1][1].kind == "error"
            note = run_note(end, told=failed) if end else None
            messages += [note] if note else []
        return taken_marked(messages, self.taken, self.session)

    def _goes_on(self, row: EventRow) -> bool:
        return self.running is not None and row.run == self.running

    def _segments(
        self,
    ) -> Iterator[tuple[Sequence[tuple[EventRow, Summary]], RunRow | None]]:
        """The events between the ends of runs, each with the end that follows."""
        start = 0
        for end in self.ends:
            stop = start + sum(1 for row, _ in self.events[start:] if row.seq < end.seq)
            yield self.events[start:stop], end
            start = stop
        yield self.events[start:], None


async def window_before(journal: Journal, session: int, seq: int, *, size: int = SIZE) -> Window:
    """The events just before a seq of the journal."""
    rows = await journal.events.page(session, before=seq, limit=size + 1)
    return await _marked(journal, await _window(journal, session, rows, size, until=seq))


async def window_around(
    journal: Journal, session: int, row: EventRow, *, until: int | None = None
) -> Window:
    """The events on both sides of one, before the journal's `until` if that is given."""
    before = await journal.events.page(session, before=row.seq + 1, limit=_AROUND // 2 + 1)
    after = await journal.events.page(session, after=row.seq, limit=_AROUND // 2)
    rows = [each for each in (*before, *after) if until is None or each.seq < until]
    window = await _window(journal, session, rows, _AROUND, until=rows[-1].seq + 1)
    return await _marked(journal, window)


async def _marked(journal: Journal, window: Window) -> Window:
    """With the marks of what was read and then lost, and of what was taken back."""
    rows = (row for row, _ in window.events)
    lost = await lost_reads(journal, window.session, rows)
    taken, cut = await taken_back(journal, window.session), await _cut(journal, window.session)
    return replace(window, lost=lost, taken=taken, cut=cut)


async def _cut(journal: Journal, session: int) -> str | None:
    fork = await journal.forks.get(session)
    last = await journal.events.body(session, fork.number) if fork else None
    if last is None:
        return None
    runs = await journal.runs.list(session)
    invocation = last[0].invocation_id
    return None if any(run.invocation_id == invocation for run in runs) else invocation


async def _window(
    journal: Journal,
    session: int,
    rows: list[EventRow],
    size: int,
    *,
    until: int,
) -> Window:
    """`rows` may begin with one event more than `size`: the one before the window."""
    previous = rows[0] if len(rows) > size else None
    shown = rows[1:] if previous else rows
    small = [row.number for row in shown if row.size <= _LARGE]
    bodies = await journal.events.bodies(session, small)
    texts = {row.number: data for row, data in bodies}
    events, parsed = await asyncio.to_thread(_read, shown, texts)
    since = previous.seq if previous else 0
    changed = await journal.runs.since(session, since, until=until)
    ends = tuple(run for run in changed if run_end(run))
    active = await journal.runs.active(session)
    running = active.id if active else None
    # What was dropped between two windows belongs to the one before.
    first = shown[0].seq if previous and shown else 0
    drops = tuple(await journal.edits.dropped(session, first, until))
    notes = await journal.notes.of(session, shown[0].number, shown[-1].number) if shown else {}
    askers = await askers_in(journal, session, parsed.values())
    later = await _later(journal, session, until, events)
    return Window(session, events, parsed, ends, previous, running, drops, notes, askers, later)


async def _later(
    journal: Journal, session: int, until: int, events: Sequence[tuple[EventRow, Summary]]
) -> tuple[tuple[EventRow, Summary], ...]:
    """The events next to a window in which calls have no results, which may have these."""
    called = {call.id for _, summary in events for call in summary.calls}
    if called <= {response.id for _, summary in events for response in summary.responses}:
        return ()
    rows = await journal.events.page(session, after=until - 1, limit=SIZE)
    return tuple((row, Summary.from_json(row.summary)) for row in rows)


def _read(
    rows: list[EventRow], texts: dict[int, str]
) -> tuple[tuple[tuple[EventRow, Summary], ...], dict[int, dict[str, Any]]]:
    """Summaries and bodies; not on the event loop, where others would wait for some megabytes."""
    events = tuple((row, Summary.from_json(row.summary)) for row in rows)
    return events, {row.number: body(row, s, texts.get(row.number, "")) for row, s in events}


def body(row: EventRow, summary: Summary, data: str) -> dict[str, Any]:
    """What the chat shows of an event, on the page and on its stream alike (Law 5)."""
    if row.size > _LARGE:
        return _stand_in(row, summary)
    parsed: dict[str, Any] = json.loads(data)
    return parsed


def _stand_in(row: EventRow, summary: Summary) -> dict[str, Any]:
    """What the chat shows of an event that is too large to be read for it.

    Calls have their chips, in which their results are: what those say is not said once more.
    """
    told = f"({row.size:,} bytes: open the event to see all of it)"
    if not summary.calls and (summary.kind != "result" or summary.final):
        told = f"{summary.text}\n\n{told}"
    role = "user" if summary.kind == "user" else "model"
    calls = [{"functionCall": {"id": call.id, "name": call.name}} for call in summary.calls]
    parts = [*calls, {"text": told}]
    return {"author": row.author, "content": {"role": role, "parts": parts}}
