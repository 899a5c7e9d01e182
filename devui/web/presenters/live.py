"""The session page's stream: what happens, as pieces of the page (Law 5).

One object per reader. It remembers what a row needs of the rows before it (the time, the
invocation, who spoke last) and renders each batch of news with the same parts as the page. All
pieces of a batch go out in one message, and htmx finds their targets before it places the first
of them: so what a batch adds is rendered as it is at the end of the batch, never added and then
changed.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace as replace_fields
from typing import Final, TypeAlias

from markupsafe import Markup

from devui.debugger.feed import Batch
from devui.debugger.filters import Filter
from devui.debugger.news import (
    AppChanged,
    BreakpointsChanged,
    EventCommitted,
    EventDropped,
    ForksChanged,
    JournalChanged,
    News,
    NoteChanged,
    NoticesChanged,
    OutputArrived,
    PartialArrived,
    PositionChanged,
    RunChanged,
    RunStuck,
    SessionChanged,
    SpansChanged,
    StateTouched,
)
from devui.store.rows import SessionRow
from devui.web.links import breaks_here_url, key_history_url, standing_url, trace_url
from devui.web.parts.basics import Notice
from devui.web.parts.gutter import BreaksAsk
from devui.web.parts.inspector import TabAsk
from devui.web.parts.keyhistory import HistoryAsk
from devui.web.presenters.breaking import break_count, breakpoints
from devui.web.presenters.chip import run_of
from devui.web.presenters.debugging import debugger, held, is_committing
from devui.web.presenters.inspection import state
from devui.web.presenters.lists import session_name
from devui.web.presenters.livehistory import LiveHistory
from devui.web.presenters.lostreads import LiveLost
from devui.web.presenters.margins import LiveMarks
from devui.web.presenters.menus import session_title
from devui.web.presenters.notices import notices
from devui.web.presenters.noting import LiveNotes
from devui.web.presenters.recovering import lineage, resume
from devui.web.presenters.replays import replay as replay_of
from devui.web.presenters.runs import log_line
from devui.web.presenters.servernotices import server_notices
from devui.web.presenters.spending import spending, totals
from devui.web.presenters.ticks import ticks
from devui.web.presenters.workbench import (
    app_status,
    composer_field,
    composer_state,
    live_chat,
    live_rows,
    welcome,
)
from devui.web.push import append, fill, replace, say
from devui.web.recovery import goes_on, unsent
from devui.web.render import Renderer
from devui.web.services import Services
from devui.web.text.markdown import prepare

_UNKEPT: Final[tuple[type[News], ...]] = (
    AppChanged,
    BreakpointsChanged,
    PositionChanged,
    StateTouched,
    RunStuck,
    NoteChanged,
    JournalChanged,
    NoticesChanged,
)
"""What may have changed where a reader begins, be it anew, and is in no journal."""


Makers: TypeAlias = tuple[tuple[set[type[News]], Callable[[Batch], Awaitable[Markup]]], ...]


class LivePage:
    """What one reader's page shows, as far as the next piece depends on it."""

    def __init__(
        self,
        found: Services,
        session: SessionRow,
        *,
        tail: bool,
        past: bool,
        wanted: Filter | None = None,
    ) -> None:
        self._found = found
        self._session = session
        self._growth = LiveHistory(found, session, tail=tail, wanted=wanted)
        self._wanted = wanted
        self._marks = LiveMarks(found)
        self._lost = LiveLost(found)
        self._notes = LiveNotes(found, session.key)
        self._kinds: list[str] = []
        self._committing = False  # whether an event is shown on its way into the journal
        self._makers: Makers = (
            ({EventCommitted, RunChanged, StateTouched}, self._lost_reads),
            ({EventCommitted, EventDropped, RunChanged}, self._history),
            ({EventCommitted, PositionChanged, RunChanged, StateTouched}, self._present),
            ({EventCommitted, RunChanged}, self._totals),
            ({EventCommitted, PartialArrived, RunChanged, PositionChanged}, self._in_flight),
            ({RunChanged, AppChanged, RunStuck}, self._status),
            ({RunChanged, PositionChanged, RunStuck}, self._debugger),
            ({EventCommitted}, self._committed),
            ({RunChanged}, self._standing),
            ({AppChanged}, self._stays),
            ({RunChanged, SpansChanged}, self._trace),
            ({AppChanged}, self._app),
            ({ForksChanged}, self._lineage),
            ({BreakpointsChanged}, self._breakpoints),
            ({OutputArrived, SessionChanged}, self._told),
            ({NoteChanged}, self._notes.changes),
            ({JournalChanged, NoticesChanged}, self._journal),
        )
        """What makes the pieces, in their order, and the news that call for it."""
        self._makers = self._past_makers() if past else self._makers

    def _past_makers(self) -> Makers:
        """What a page of the past hears of the present."""
        return (
            ({EventCommitted}, self._grown),
            ({RunChanged, PositionChanged, RunStuck}, self._position),
            ({BreakpointsChanged}, self._breakpoints),
            ({OutputArrived, SessionChanged}, self._told),
            ({NoteChanged}, self._notes.changes),
            ({JournalChanged, NoticesChanged}, self._journal),
        )

    async def begin(self, after: int) -> None:
        """Learn what the page shows up to the journal's `after`."""
        number = await self._growth.begin(after)
        self._kinds = [*(await self._found.journal.totals.kinds(self._session.key))[:number]]

    async def render(self, batch: Batch) -> Markup:
        """The pieces for a batch of news; an empty text when the page needs nothing."""
        kinds: set[type[News]] = {type(news) for news in batch.news}
        kinds |= set(_UNKEPT if batch.begins else ())
        pieces = Markup("")
        for triggers, make in self._makers:
            if kinds & triggers:
                pieces += await make(batch)
        return pieces

    async def _history(self, batch: Batch) -> Markup:
        self._kinds += [news.row.kind for news in batch.news if isinstance(news, EventCommitted)]
        return await self._growth.add(batch, self._lost.marks)

    # --- what shows the present ------------------------------------------------------------

    async def _present(self, _: Batch) -> Markup:
        render, key = self._found.render, self._session.key
        self._session = await self._found.journal.sessions.get(key) or self._session
        marks = ticks(self._kinds)
        panel = await state(self._found, self._session, None)
        ask = replace("#history-ask", render.part(HistoryAsk(key_history_url(key))))
        return fill("#ticks", render.part(marks)) + replace("#state-live", render.part(panel)) + ask

    async def _grown(self, batch: Batch) -> Markup:
        """For a page of the past: how long the session has become."""
        news = (item.row for item in batch.news if isinstance(item, EventCommitted))
        self._kinds += [row.kind for row in news]
        marks = ticks(self._kinds)
        return fill("#ticks", self._found.render.part(marks))

    async def _position(self, _: Batch) -> Markup:
        """For a page of the past: the run that goes on."""
        found, key = self._found, self._session.key
        live, newest = found.runs.live(key), await found.journal.runs.newest(key)
        status = found.render.part(await run_of(found, key, newest))
        return fill("#run", status) + fill("#debugger", found.render.part(debugger(live)))

    async def _totals(self, _: Batch) -> Markup:
        part, spent = self._found.render.part, await spending(self._found, self._session)
        figures = await totals(self._found, self._session, spent)
        return fill("#totals", part(figures)) + fill("#spending", part(spent))

    async def _in_flight(self, _: Batch) -> Markup:
        render, live = self._found.render, self._found.runs.live(self._session.key)
        veil = self._found.veil
        rows = fill("#live-rows", render.part(live_rows(live, veil, self._wanted)))
        chat = live_chat(live, veil)
        await prepare(message.text for message in chat.messages)
        return rows + fill("#live-chat", render.part(chat))

    async def _debugger(self, batch: Batch) -> Markup:
        found, key = self._found, self._session.key
        live, newest = found.runs.live(key), await found.journal.runs.newest(key)
        if newest is not None and newest.seq > batch.seq:
            return Markup("")  # its news come next, and its last events: it is not over before
        part = found.render.part
        self._committing = is_committing(live)
        return (
            fill("#run", part(await run_of(found, key, newest)))
            + fill("#debugger", part(debugger(live)))
            + fill("#held", part(held(live, found.book)))
            + fill("#resume", part(await resume(found, key, live)))
        )

    async def _committed(self, _: Batch) -> Markup:
        """What was shown on its way into the journal is there.

        Something else may be held already, and its orders come with it: those of the position
        before would be refused.
        """
        live, part = self._found.runs.live(self._session.key), self._found.render.part
        if not self._committing or is_committing(live):
            return Markup("")
        self._committing = False
        orders = fill("#debugger", part(debugger(live)))
        return orders + fill("#held", part(held(live, self._found.book)))

    async def _stays(self, _: Batch) -> Markup:
        """An app that was just loaded may turn out to be one that cannot resume."""
        found, key = self._found, self._session.key
        if goes_on(found, self._session.app):
            return Markup("")  # what a person has chosen in the form stays
        return fill("#resume", found.render.part(await resume(found, key, found.runs.live(key))))

    async def _standing(self, _: Batch) -> Markup:
        """The tab about the run, if it is open, asks for itself."""
        ask = TabAsk("standing", standing_url(self._session.key))
        part, replay = self._found.render.part, await replay_of(self._found, self._session)
        return replace("#standing-ask", part(ask)) + fill("#replay", part(replay))

    async def _trace(self, _: Batch) -> Markup:
        """The tab of spans, if it is open, asks for itself."""
        ask = TabAsk("trace", trace_url(self._session.key))
        return replace("#trace-ask", self._found.render.part(ask))

    async def _status(self, _: Batch) -> Markup:
        found, session = self._found, self._session
        live, app = found.runs.live(session.key), app_status(found, session.app)
        imported = await found.journal.imports.get(session.key) is not None
        size = await found.journal.totals.size(session.key)
        told = found.render.parts(notices(session, size, app, live))
        composer = found.render.part(composer_state(live, app, imported=imported))
        return fill("#warnings", told) + fill("#composer-state", composer)

    async def _journal(self, _: Batch) -> Markup:
        return fill("#journal", self._found.render.parts(server_notices(self._found)))

    async def _app(self, _: Batch) -> Markup:
        """What says something of the app, which may have been loaded since the page was made."""
        found, session = self._found, self._session
        app = app_status(found, session.app)
        field = found.render.part(
            replace_fields(composer_field(session, app), draft=await unsent(found, session))
        )
        told = found.render.part(await welcome(found, session, app))
        return replace("#composer-text", field) + replace("#welcome", told)

    async def _breakpoints(self, _: Batch) -> Markup:
        found, session = self._found, self._session
        marks = await self._marks.changes(session)
        # After what takes time: a list that is behind would turn back a switch just pressed.
        listed = found.render.part(breakpoints(found, session))
        count = Markup("{}").format(break_count(found, session))
        ask = replace("#sheet-ask", found.render.part(BreaksAsk(breaks_here_url(session.key))))
        return fill("#breakpoints", listed) + fill("#count-breaks", count) + ask + marks

    async def _lost_reads(self, batch: Batch) -> Markup:
        return await self._lost.changes(self._session, batch)

    async def _lineage(self, _: Batch) -> Markup:
        told = await lineage(self._found, self._session)
        return fill("#lineage", self._found.render.part(told))

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
        if session is None:
            return deleted(self._found.render)
        self._session = session
        title = fill("#title", self._found.render.part(session_title(session)))
        return title + say("#named", session_name(session))


def deleted(render: Renderer) -> Markup:
    """What tells a page that its session is no more."""
    gone = Notice("bad", "This session was deleted.", href="/", label="All apps")
    return fill("#warnings", render.part(gone))
