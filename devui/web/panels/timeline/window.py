"""A window of a session: the events around some point, as rows and as messages.

Pages read only what they show. Rows are made from summaries; bodies are read only for the chat, and
for a very large event, the chat also shows the summary.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from devui.debugger.history.rewinds import NO_REWINDS, EffectiveRewinds, effective_rewinds
from devui.debugger.questions.questions import answered_once
from devui.debugger.questions.requesters import Requester, askers_in
from devui.debugger.timeline import Entry, News, Timeline, fold
from devui.store.journal import Journal
from devui.store.rows import EditRow, EventRow, NoteRow, RunRow
from devui.store.summaries import ANSWERS, Summary
from devui.web.panels.artifacts.saved import SavedFiles, saved_files
from devui.web.panels.breakpoints.gutter import Gutter
from devui.web.panels.chat.chat import CallAnswers, conversation, spoken_by
from devui.web.panels.chat.file_data import without_file_data
from devui.web.panels.chat.parts import ChatMessage, ChatPart, ComposerState, RunNote, ToolChip
from devui.web.panels.chat.run_notes import run_note
from devui.web.panels.recovery.parts import UndoRewind
from devui.web.panels.timeline.dirty_reads import Lost, lost_reads, with_lost_marks
from devui.web.panels.timeline.figures import invocations, later_parts
from devui.web.panels.timeline.parts import TimelineItem
from devui.web.panels.timeline.rewind_marks import with_rewind_marks
from devui.web.panels.timeline.rows import RowContext
from devui.web.panels.timeline.runs import run_end
from devui.wire.events import Event

SIZE = 60
"""Events in a page's first window and in each earlier one: a few screens."""
_AROUND = 120
"""Events in the window around a requested one."""
END: Final = 2**63 - 1
"""A seq above all others."""
_LARGE = 256 * 1024
"""Bytes above which an event isn't shown in the chat, not counting the data of its files."""
_FILES = 32 * 1024 * 1024
"""How many bytes of events with large files are read for the chat of one window."""


@dataclass(frozen=True, slots=True)
class Window:
    """Events in order, and the runs among them that didn't finish normally."""

    session: int
    rows: tuple[EventRow, ...]
    bodies: Mapping[int, Event]
    """What the chat shows of them, by number, and of `later` ones that respond to their calls."""
    ends: tuple[RunRow, ...]
    previous: EventRow | None
    """The event before the window."""
    running: str | None = None
    """The run in progress."""
    invocation: str | None = None
    """The invocation that it continues; in a fork, possibly one that began in the parent."""
    lost: Lost = field(default_factory=dict, kw_only=True)
    """The marks of events that read state that was lost, by event number."""
    drops: tuple[EditRow, ...] = ()
    """The events among them that people dropped."""
    notes: Mapping[int, NoteRow] = field(default_factory=dict)
    """People's notes on events, by event number."""
    askers: Mapping[str, Requester] = field(default_factory=dict)
    """Who needs the answers to the events' questions, by the ids of the calls that ask."""
    saved_files: SavedFiles = field(default_factory=dict)
    """The files they saved."""
    later: tuple[EventRow, ...] = ()
    """Some of the events that follow, which may hold results of the window's calls."""
    cut: str | None = None
    """In a fork, the invocation of the last copied event, until a run of the fork continues it."""
    rewinds: EffectiveRewinds = NO_REWINDS
    """The rewinds of the session."""

    answers: frozenset[int] = frozenset()
    """The numbers of the last answers of the invocations."""

    async def items(
        self, journal: Journal, gutter: Gutter, *, until: int, selection: int | None = None
    ) -> tuple[TimelineItem, ...]:
        """Return the rows of the timeline; headers cover the events up to number `until`."""
        _, changes = fold(Timeline(self.previous), in_order(self.rows, self.drops, self.ends))
        under = await invocations(journal, gutter.prices, self.session, changes.items, until=until)
        parts = await later_parts(journal, self.session, changes.items)
        look = RowContext(gutter, under, selection, self.notes, answers=self.answers, parts=parts)
        items = with_lost_marks(look.items(changes.items), self.lost)
        return with_rewind_marks(items, self.rewinds, self.session)

    def messages(self) -> tuple[ChatMessage | RunNote, ...]:
        """Return the messages of the chat."""
        messages: list[ChatMessage | RunNote] = []
        call_answers = self._call_answers()
        for rows, end in self._segments():
            messages += self._conversation(rows, call_answers)
            note = run_note(end, follows_error=ends_in_error(rows)) if end else None
            messages += [note] if note else []
        return with_rewind_marks(messages, self.rewinds, self.session)

    @property
    def speaker(self) -> str | None:
        """The last message's author, whose next message continues it; None after a run's end."""
        messages = self._conversation(self.last_segment, self._call_answers())
        return spoken_by(messages[-1]) if messages else None

    @property
    def last_segment(self) -> Sequence[EventRow]:
        """The events after the last end of a run shown in the chat or the timeline."""
        *_, (rows, _) = self._segments()
        return rows

    def _call_answers(self) -> CallAnswers:
        events = (
            (row.number, row.author, row.summary, self.bodies.get(row.number))
            for row in (*self.rows, *self.later)
        )
        return CallAnswers.of(events, self.session)

    def _conversation(
        self, rows: Sequence[EventRow], call_answers: CallAnswers
    ) -> tuple[ChatMessage, ...]:
        return conversation(
            [(row.number, self.bodies[row.number], row.summary) for row in rows],
            session=self.session,
            going_on=next((row.number for row in rows if self._goes_on(row)), None),
            askers=self.askers,
            saved_files=self.saved_files,
            call_answers=call_answers,
            cut=self.cut,
        )

    def _goes_on(self, row: EventRow) -> bool:
        if self.running is None:
            return False
        return self.running == row.run or self.invocation == row.invocation_id

    def _segments(self) -> Iterator[tuple[Sequence[EventRow], RunRow | None]]:
        """Yield the events between the ends of runs, each time with the end that follows."""
        start = 0
        for end in self.ends:
            stop = start + sum(1 for row in self.rows[start:] if row.seq < end.seq)
            yield self.rows[start:stop], end
            start = stop
        yield self.rows[start:], None


def ends_in_error(rows: Sequence[EventRow]) -> bool:
    """Return whether the last of the events is an error."""
    return bool(rows) and rows[-1].summary.kind == "error"


async def window_before(journal: Journal, session: int, seq: int, *, size: int = SIZE) -> Window:
    """Return the window just before a seq of the journal."""
    rows = await journal.events.page(session, before=seq, limit=size + 1)
    return await _with_marks(journal, await _window(journal, session, rows, size, until=seq))


async def window_between(journal: Journal, session: int, first: int, last: int) -> Window:
    """Return the window of these events, with the runs that ended before the next one."""
    following = await journal.events.rows(session, [last + 1])
    until = following[0].seq if following else END
    size = last - first + 1
    rows = await journal.events.page(session, before=until, limit=size + 1)
    return await _with_marks(journal, await _window(journal, session, rows, size, until=until))


async def window_around(
    journal: Journal, session: int, row: EventRow, *, until: int | None = None
) -> Window:
    """Return the window around an event, before seq `until` if given."""
    before = await journal.events.page(session, before=row.seq + 1, limit=_AROUND // 2 + 1)
    after = await journal.events.page(session, after=row.seq, limit=_AROUND // 2)
    rows = [each for each in (*before, *after) if until is None or each.seq < until]
    window = await _window(journal, session, rows, _AROUND, until=rows[-1].seq + 1)
    return await _with_marks(journal, window)


async def _with_marks(journal: Journal, window: Window) -> Window:
    """Return the window with marks for lost reads, rewinds and answers."""
    lost = await lost_reads(journal, window.session, window.rows)
    rewinds, cut = (
        await effective_rewinds(journal, window.session),
        await _cut(journal, window.session),
    )
    answers = await last_answers(journal, window.session, window.rows)
    return replace(window, lost=lost, rewinds=rewinds, cut=cut, answers=answers)


async def last_answers(
    journal: Journal, session: int, rows: Iterable[EventRow], *, until: int = END
) -> frozenset[int]:
    """Return the last answers, before seq `until`, of the invocations that have an answer among the
    rows."""
    invocations = {row.invocation_id for row in rows if row.final and row.kind in ANSWERS}
    if not invocations:
        return frozenset()
    return frozenset(await journal.events.last_answers(session, invocations, before=until))


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
    """Return the window; `rows` may begin with one event more, which is before the window."""
    previous = rows[0] if len(rows) > size else None
    own_rows = rows[1:] if previous else rows
    small = [row.number for row in own_rows if row.size <= _LARGE]
    bodies = await journal.events.bodies(session, small)
    read = {row.number: event for row, event in bodies}
    read |= await _without_files(journal, session, own_rows)
    events = await asyncio.to_thread(_read, own_rows, read)
    later = await _later(journal, session, until, own_rows)
    updates = await _updates(journal, session, own_rows, later)
    since = previous.seq if previous else 0
    runs = await journal.runs.since(session, since, until=until)
    ends = tuple(run for run in runs if run_end(run))
    active = await journal.runs.active(session)
    running, invocation = (active.id, active.invocation_id) if active else (None, None)
    # An event dropped between two windows belongs to the earlier one.
    first = own_rows[0].seq if previous and own_rows else 0
    drops = tuple(await journal.edits.dropped(session, first, until))
    notes = (
        await journal.notes.of(session, own_rows[0].number, own_rows[-1].number) if own_rows else {}
    )
    askers = await askers_in(journal, session, events.values())
    return Window(
        session=session,
        rows=tuple(own_rows),
        bodies=events | updates,
        ends=ends,
        previous=previous,
        running=running,
        invocation=invocation,
        drops=drops,
        notes=notes,
        askers=askers,
        saved_files=await saved_files(journal, session, events.values()),
        later=later,
    )


async def _without_files(
    journal: Journal, session: int, rows: Sequence[EventRow]
) -> dict[int, Event]:
    """Return large events without the data of their files; the newest ones, one at a time."""
    events, budget = dict[int, Event](), _FILES
    for row in reversed(rows):
        if _LARGE < row.size <= budget and not row.summary.calls:
            budget -= row.size
            for _, event in await journal.events.bodies(session, [row.number]):
                events[row.number] = await asyncio.to_thread(without_file_data, event)
    return events


async def _later(
    journal: Journal, session: int, until: int, rows: Sequence[EventRow]
) -> tuple[EventRow, ...]:
    """Return the events after a window if results may be missing from it."""
    call_ids = {call.id for row in rows for call in row.summary.calls}
    result_ids = {response.id for row in rows for response in row.summary.responses}
    if call_ids <= result_ids - _updated_calls(rows):
        return ()
    return tuple(await journal.events.page(session, after=until - 1, limit=SIZE))


def _updated_calls(rows: Iterable[EventRow]) -> set[str | None]:
    """Return the calls that may get several results, one after another."""
    calls = (call for row in rows for call in row.summary.calls if call.long_running)
    return {call.id for call in calls if not answered_once(call.name)}


async def _updates(
    journal: Journal, session: int, rows: Sequence[EventRow], later: Sequence[EventRow]
) -> dict[int, Event]:
    """Return the bodies of later events with results of the window's calls, by number: the forms of
    these calls start from them."""
    calls = _updated_calls(rows)
    numbers = [
        row.number
        for row in later
        if row.size <= _LARGE and any(each.id in calls for each in row.summary.responses)
    ]
    return {row.number: event for row, event in await journal.events.bodies(session, numbers)}


def _read(rows: Sequence[EventRow], bodies: Mapping[int, Event]) -> dict[int, Event]:
    """Return the bodies by number; slow for megabytes, so never called on the event loop."""
    return {row.number: body(row, bodies.get(row.number)) for row in rows}


def in_order(
    rows: Iterable[EventRow], drops: Iterable[EditRow], ends: Iterable[RunRow]
) -> list[News]:
    """Return the news in the journal's order."""
    news: list[tuple[int, News]] = [(row.seq, Entry(row)) for row in rows]
    news += [(drop.seq or 0, drop) for drop in drops]
    news += [(end.seq, end) for end in ends]
    return [item for _, item in sorted(news, key=lambda each: each[0])]


def body(row: EventRow, event: Event | None) -> Event:
    """Return what the chat shows of an event, on the page as on its stream (Law 5)."""
    if event is not None and row.size > _LARGE:
        event = without_file_data(event)
    if event is None or len(event.text) > _LARGE:
        return Event.of(_stand_in(row, row.summary))
    return event.read()


async def body_in_thread(row: EventRow, event: Event) -> Event:
    """Return the same as `body`; a large event is read in a thread."""
    if row.size <= _LARGE:
        return body(row, event)
    return await asyncio.to_thread(body, row, event)


def _stand_in(row: EventRow, summary: Summary) -> dict[str, Any]:
    """Return what the chat shows of an event that is too large to read for it.

    The chips of calls contain their results, so the results aren't shown again.
    """
    text = f"({row.size:,} bytes: open the event to see it in full)"
    role = "user" if summary.kind == "user" else "model"
    calls = [{"functionCall": {"id": call.id, "name": call.name}} for call in summary.calls]
    if summary.kind == "result" and summary.responses and not summary.final:
        return {"author": row.author, "content": {"role": role, "parts": []}}
    if not summary.calls:
        text = f"{summary.text}\n\n{text}"
    parts = [*calls, {"text": text}]
    return {"author": row.author, "content": {"role": role, "parts": parts}}


async def window_at(journal: Journal, at: EventRow, row: EventRow | None = None) -> Window:
    """Return the window of the events up to `at`, or of the ones around `row` among these. The run
    of `at` counts as in progress, so that calls wait for their results."""
    if row is None or row.number > at.number - SIZE:
        window = await window_before(journal, at.session, at.seq + 1)
    else:
        window = await window_around(journal, at.session, row, until=at.seq + 1)
    rewinds = await effective_rewinds(journal, at.session, until=at.number)
    answers = await last_answers(journal, at.session, window.rows, until=at.seq + 1)
    window = replace(window, rewinds=rewinds, answers=answers, later=())
    return replace(window, running=at.run, invocation=at.invocation_id)


def without_forms(messages: tuple[ChatMessage | RunNote, ...]) -> tuple[ChatMessage | RunNote, ...]:
    """Return the messages without forms: questions in the past can't be answered."""
    return tuple(
        replace(
            message,
            parts=tuple(_without_form(part) for part in message.parts),
            again=None if isinstance(message.again, UndoRewind) else message.again,
        )
        if isinstance(message, ChatMessage)
        else message
        for message in messages
    )


def _without_form(part: ChatPart) -> ChatPart:
    return replace(part, ask=None) if isinstance(part, ToolChip) else part


def nothing_to_send(number: int) -> ComposerState:
    """Return the reason that no message can be sent from a page as of event `number`."""
    return ComposerState(f"As of #{number}: go live to send a message")
