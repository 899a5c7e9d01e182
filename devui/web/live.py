"""The session page's stream: what happens, as pieces of the page (Law 5).

One object per reader. It remembers what a row needs of the rows before it (the time, the
invocation, who spoke last) and renders each batch of news with the same parts as the page. All
pieces of a batch go out in one message, and htmx finds their targets before it places the first
of them: so what a batch adds is rendered as it is at the end of the batch, never added and then
changed.
"""

from collections.abc import Awaitable, Callable, Iterator
from itertools import takewhile

from markupsafe import Markup

from devui.debugger.feed import Batch
from devui.debugger.news import (
    AppChanged,
    BreakpointsChanged,
    EventCommitted,
    News,
    OutputArrived,
    PartialArrived,
    PositionChanged,
    RunChanged,
    RunStuck,
    SessionChanged,
)
from devui.debugger.summary import Summary
from devui.store.rows import EventRow, RunRow, SessionRow
from devui.web.breaking import break_count, breakpoints
from devui.web.chat import (
    answers_in,
    ask_slot,
    conversation,
    lost_outcome,
    open_slots,
    spoken_by,
    tool_outcomes,
    written,
)
from devui.web.debugging import debugger, held, resume
from devui.web.inspection import state
from devui.web.kinds import kind_of
from devui.web.lists import session_title
from devui.web.markdown import prepare
from devui.web.notices import notices
from devui.web.parts import ChatMessage, Notice, ToolChip
from devui.web.push import append, fill, remove, replace
from devui.web.rows import group_id, invocation_header, timeline_items
from devui.web.runs import log_line, run_end, run_note
from devui.web.services import Services
from devui.web.ticks import ticks
from devui.web.window import SIZE, body, window_before
from devui.web.workbench import (
    app_status,
    composer_field,
    composer_state,
    live_chat,
    live_rows,
    run_of,
    totals,
    welcome,
)

_FEW = 8


class LivePage:
    """What one reader's page shows, as far as the next piece depends on it."""

    def __init__(self, found: Services, session: SessionRow, *, tail: bool) -> None:
        self._found = found
        self._session = session
        self._tail = tail
        """Whether the page ends with the newest event, so that new rows follow on."""
        self._group: list[tuple[EventRow, Summary]] = []
        """The events of the last invocation."""
        self._continued = False
        """Whether that invocation began before the page does."""
        self._speaker: str | None = None
        self._kinds: list[str] = []
        self._open: set[str] = set()
        """The chips of calls that have no result yet."""
        self._unheard: set[type[News]] = {
            AppChanged,
            BreakpointsChanged,
            PositionChanged,
        }
        """What may have changed between page and stream, and is in no journal."""
        self._makers: tuple[tuple[set[type[News]], Callable[[Batch], Awaitable[Markup]]], ...] = (
            ({EventCommitted, RunChanged}, self._history),
            ({EventCommitted, PositionChanged}, self._present),
            ({EventCommitted, RunChanged}, self._totals),
            ({EventCommitted, PartialArrived, RunChanged, PositionChanged}, self._in_flight),
            ({RunChanged, PositionChanged}, self._debugger),
            ({RunChanged, AppChanged, RunStuck}, self._status),
            ({AppChanged}, self._app),
            ({BreakpointsChanged}, self._breakpoints),
            ({OutputArrived, SessionChanged}, self._told),
        )
        """What makes the pieces, in their order, and the news that call for it."""

    async def begin(self, after: int) -> None:
        """Learn what the page shows up to the journal's `after`."""
        events = self._found.journal.events
        before = await events.page(self._session.key, before=after + 1, limit=SIZE + 1)
        last = before[-1].invocation_id if before else None
        of_last = list(takewhile(lambda row: row.invocation_id == last, reversed(before)))
        self._continued = len(of_last) > SIZE
        shown = reversed(of_last[:SIZE])
        self._group = [(row, Summary.from_json(row.summary)) for row in shown]
        kinds = await events.kinds(self._session.key)
        self._kinds = kinds[: before[-1].number if before else 0]
        live = self._found.runs.live(self._session.key)
        for row, summary in self._group:
            if live is not None and row.run == live.row.id:
                self._wait_for(row.number, summary)
        self._speaker = await self._last_speaker(after)

    async def _last_speaker(self, after: int) -> str | None:
        """Who spoke last on the page; most often that is among the last few events."""
        for size in (_FEW, SIZE):
            window = await window_before(
                self._found.journal, self._session.key, after + 1, size=size
            )
            if messages := window.messages():
                last = messages[-1]
                return spoken_by(last) if isinstance(last, ChatMessage) else None
        return None

    async def render(self, batch: Batch) -> Markup:
        """The pieces for a batch of news; an empty text when the page needs nothing."""
        kinds: set[type[News]] = {type(news) for news in batch.news} | self._unheard
        self._unheard = set()
        pieces = Markup("")
        for triggers, make in self._makers:
            if kinds & triggers:
                pieces += await make(batch)
        return pieces

    # --- what is added to the timeline and the chat ----------------------------------------

    async def _history(self, batch: Batch) -> Markup:
        rows, messages, changed = Markup(""), Markup(""), Markup("")
        for events, run in _segments(batch.news):
            if events:
                added, header = self._rows(events)
                said, outcomes = await self._messages(events, over=run is not None)
                rows, messages, changed = rows + added, messages + said, changed + header + outcomes
            if run is not None:
                row, note, outcomes = self._end(run)
                rows, messages, changed = rows + row, messages + note, changed + outcomes
        if not self._tail:
            return Markup("")
        changed += append("#rows", rows) if rows else ""
        return changed + (append("#messages", messages) if messages else "")

    def _end(self, run: RunRow) -> tuple[Markup, Markup, Markup]:
        """The row and the message that a run ends with, and what became of its open calls."""
        render = self._found.render
        lost = [lost_outcome(slot) for slot in sorted(self._open)]
        self._open.clear()
        outcomes = Markup("").join(fill(f"#{o.slot}", render.part(o)) for o in lost)
        told = bool(self._group) and self._group[-1][1].kind == "error"
        end, note = run_end(run), run_note(run, told=told)
        if end is None or note is None:
            return Markup(""), Markup(""), outcomes
        self._speaker = None
        return render.part(end), render.part(note), outcomes

    def _wait_for(self, number: int, summary: Summary) -> None:
        self._open |= set(open_slots(number, summary))
        self._open -= {o.slot for o in tool_outcomes(number, summary, session=self._session.key)}

    def _rows(self, news: list[EventCommitted]) -> tuple[Markup, Markup]:
        """Rows to add, and the header on the page that they change."""
        events = [(item.row, Summary.from_json(item.row.summary)) for item in news]
        self._kinds += [row.kind for row, _ in events]
        previous = self._group[-1][0] if self._group else None
        first = events[0][0].invocation_id
        same = previous is not None and previous.invocation_id == first
        own = [pair for pair in events if pair[0].invocation_id == first] if same else []
        header = Markup("")
        if own:
            whole = invocation_header([*self._group, *own], continued=self._continued)
            html = self._found.render.part(whole)
            header = replace(f"#{group_id(first)}", html)
        items = timeline_items(events, previous=previous)
        shown = items[1:] if same else items
        last = events[-1][0].invocation_id
        kept = self._group if same and last == first else []
        self._continued = self._continued and bool(kept)
        self._group = [*kept, *(pair for pair in events if pair[0].invocation_id == last)]
        return self._found.render.parts(shown), header

    async def _messages(self, news: list[EventCommitted], *, over: bool) -> tuple[Markup, Markup]:
        """Messages to add, and the outcomes that go into chips on the page; `over`: the run is."""
        key, render = self._session.key, self._found.render
        read = [(item.row, Summary.from_json(item.row.summary), item.data) for item in news]
        told = [(row.number, body(row, summary, data), summary) for row, summary, data in read]
        for number, _, summary in told:
            self._wait_for(number, summary)
        messages = conversation(
            told, session=key, previous_author=self._speaker, going_on=None if over else 0
        )
        if messages:
            self._speaker = spoken_by(messages[-1])
        await prepare(written(messages))
        here = {slot for message in messages for slot in _slots(message)}
        outcomes = Markup("").join(
            fill(f"#{outcome.slot}", render.part(outcome))
            for number, _, summary in told
            for outcome in tool_outcomes(number, summary, session=key)
            if outcome.slot not in here
        )
        asked = Markup("").join(
            remove(f"#{ask_slot(answer.id)}")
            for _, event, summary in told
            for answer in answers_in(event, summary)
            if answer.id
        )
        return render.parts(messages), outcomes + asked

    # --- what shows the present ------------------------------------------------------------

    async def _present(self, _: Batch) -> Markup:
        render, key = self._found.render, self._session.key
        self._session = await self._found.journal.sessions.get(key) or self._session
        marks = ticks([kind_of(kind) for kind in self._kinds])
        panel = await state(self._found, self._session, None)
        return fill("#ticks", render.part(marks)) + replace("#state-live", render.part(panel))

    async def _totals(self, _: Batch) -> Markup:
        figures = await totals(self._found.journal, self._session)
        return fill("#totals", self._found.render.part(figures))

    async def _in_flight(self, _: Batch) -> Markup:
        render, live = self._found.render, self._found.runs.live(self._session.key)
        rows = fill("#live-rows", render.part(live_rows(live)))
        chat = live_chat(live)
        await prepare(message.text for message in chat.messages)
        return rows + fill("#live-chat", render.part(chat))

    async def _debugger(self, _: Batch) -> Markup:
        found, key = self._found, self._session.key
        live, newest = found.runs.live(key), await found.journal.runs.newest(key)
        part = found.render.part
        return (
            fill("#run", part(run_of(found, key, newest)))
            + fill("#debugger", part(debugger(live)))
            + fill("#held", part(held(live, found.book)))
            + fill("#resume", part(await resume(found, newest, live)))
        )

    async def _status(self, _: Batch) -> Markup:
        found, session = self._found, self._session
        live, app = found.runs.live(session.key), app_status(found, session.app)
        return fill("#notice", found.render.parts(notices(session.app, app, live))) + fill(
            "#composer-state", found.render.part(composer_state(live, app))
        )

    async def _app(self, _: Batch) -> Markup:
        """What says something of the app, which may have been loaded since the page was made."""
        found, session = self._found, self._session
        app = app_status(found, session.app)
        field = found.render.part(composer_field(session, app))
        told = found.render.part(await welcome(found, session, app))
        return replace("#composer-text", field) + replace("#welcome", told)

    async def _breakpoints(self, _: Batch) -> Markup:
        found, session = self._found, self._session
        listed = found.render.part(breakpoints(found, session))
        count = Markup("{}").format(break_count(found, session.app))
        return fill("#breakpoints", listed) + fill("#count-breaks", count)

    async def _told(self, batch: Batch) -> Markup:
        pieces = Markup("")
        for news in batch.news:
            if isinstance(news, OutputArrived):
                lines = [log_line(news.first + i, line) for i, line in enumerate(news.lines)]
                pieces += append("#log-live", self._found.render.parts(lines))
            elif isinstance(news, SessionChanged):
                pieces += self._renamed(news.session)
        return pieces

    def _renamed(self, session: SessionRow | None) -> Markup:
        render = self._found.render
        if session is None:
            gone = Notice("bad", "This session was deleted.", href="/", label="All apps")
            return fill("#notice", render.part(gone))
        self._session = session
        return fill("#title", render.part(session_title(session)))


def _segments(news: list[News]) -> Iterator[tuple[list[EventCommitted], RunRow | None]]:
    """The events between the ends of runs, each list with the end that follows.

    A change that ends nothing adds nothing, and parts no events: a header that is itself new in
    this batch cannot be changed by it.
    """
    events: list[EventCommitted] = []
    for item in news:
        if isinstance(item, EventCommitted):
            events.append(item)
        elif isinstance(item, RunChanged) and item.run.ended is not None:
            yield events, item.run
            events = []
    yield events, None


def _slots(message: ChatMessage) -> list[str]:
    return [part.outcome.slot for part in message.parts if isinstance(part, ToolChip)]
