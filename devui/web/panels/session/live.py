"""The session page's stream: news rendered as pieces of the page (Law 5).

Each reader has one object. It remembers what a row needs from earlier rows (the time, the
invocation, the last speaker) and renders each batch of news with the parts that the page uses.
All pieces of a batch go out in one message, and htmx resolves their targets before it places the
first of them. So each addition is rendered in its state at the end of the batch, never added and
then changed.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Final, TypeAlias

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.events.feed import Batch, TooFarBehind, follow
from devui.debugger.events.news import (
    APPS,
    AppChanged,
    ArtifactsChanged,
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
    QueueChanged,
    RunChanged,
    RunStuck,
    SessionChanged,
    SessionRemade,
    SpansChanged,
    StateTouched,
    TagsChanged,
    WatchChanged,
)
from devui.debugger.predicates.filters import Filter, FilterInput
from devui.store.rows import SessionRow
from devui.web.basic_parts import Notice
from devui.web.errors import NotFound
from devui.web.htmx import append, fill, replace, say
from devui.web.links import (
    activity_url,
    breaks_here_url,
    files_url,
    graph_url,
    key_history_url,
    request_url,
    trace_url,
)
from devui.web.lookup import session_of
from devui.web.panels.apps.lists import app_card, app_head, session_name
from devui.web.panels.breakpoints.live import LiveGutter
from devui.web.panels.breakpoints.panel import breakpoints, enabled_count
from devui.web.panels.breakpoints.parts import RenewBreakpointsHere
from devui.web.panels.chat.parts import ComposerField
from devui.web.panels.chat.recipient import recipient
from devui.web.panels.hold.panel import debugger, held_rows, is_committing
from devui.web.panels.inspector.inspector import state
from devui.web.panels.inspector.log import log_line
from devui.web.panels.inspector.parts import TabAsk
from devui.web.panels.notes.live import LiveNotes
from devui.web.panels.queue.panel import queue_panel
from devui.web.panels.recovery.actions import is_resumable, unsent
from devui.web.panels.recovery.panel import lineage, resume
from devui.web.panels.replays.panel import replay as replay_of
from devui.web.panels.runs.status import run_of
from devui.web.panels.session.notices import notices, server_notices
from devui.web.panels.session.page import (
    app_status,
    composer_state,
    live_chat,
    live_rows,
    session_engine,
    session_title,
    welcome,
)
from devui.web.panels.session.parts import EngineLabel
from devui.web.panels.state.parts import HistoryReload
from devui.web.panels.tags.panel import session_tags, tag_updates
from devui.web.panels.timeline.chips import filter_chips
from devui.web.panels.timeline.dirty_reads import LostReadUpdates
from devui.web.panels.timeline.filtering import search
from devui.web.panels.timeline.live_history import LiveHistory
from devui.web.panels.timeline.transport import ticks_of
from devui.web.panels.usage.usage import spending, totals
from devui.web.panels.watch.panel import watch_strip
from devui.web.render import Renderer
from devui.web.services import Services, services_of
from devui.web.sse import Message, stream_response
from devui.web.stream_offset import ForeignOffset, StreamOffset
from devui.web.text.markdown import prepare

_UNKEPT: Final[tuple[type[News], ...]] = (
    AppChanged,
    BreakpointsChanged,
    PositionChanged,
    StateTouched,
    RunStuck,
    NoteChanged,
    TagsChanged,
    QueueChanged,
    JournalChanged,
    NoticesChanged,
)
"""News that the journal doesn't replay: a reader may miss it before a stream begins or resumes."""


Makers: TypeAlias = tuple[tuple[set[type[News]], Callable[[Batch], Awaitable[Markup]]], ...]


class LivePage:
    """The part of one reader's page that the next piece depends on."""

    def __init__(
        self,
        services: Services,
        session: SessionRow,
        *,
        past: bool,
        event_filter: Filter | None = None,
    ) -> None:
        self._services = services
        self._session = session
        self._growth = LiveHistory(services, session, event_filter=event_filter)
        self._filter = event_filter
        self._marks = LiveGutter(services)
        self._lost_updates = LostReadUpdates(services)
        self._notes = LiveNotes(services, session.key)
        self._count = 0  # events that the page has
        self._committing = False  # whether an event is shown as being committed
        self._makers: Makers = (
            ({EventCommitted, RunChanged, StateTouched}, self._lost_reads),
            ({EventCommitted, EventDropped, RunChanged}, self._history),
            (
                {EventCommitted, PositionChanged, RunChanged, StateTouched, WatchChanged},
                self._present,
            ),
            ({EventCommitted}, self._chips),
            ({EventCommitted, RunChanged}, self._totals),
            (
                {EventCommitted, PartialArrived, RunChanged, PositionChanged, SpansChanged},
                self._in_flight,
            ),
            ({RunChanged, AppChanged, RunStuck}, self._status),
            ({RunChanged, PositionChanged, RunStuck}, self._debugger),
            ({EventCommitted}, self._committed),
            ({RunChanged}, self._activity),
            ({EventCommitted, RunChanged}, self._replay),
            ({AppChanged}, self._stays),
            ({RunChanged, SpansChanged}, self._trace),
            ({EventCommitted, PositionChanged, SpansChanged}, self._request),
            ({EventCommitted, RunChanged, PositionChanged, SpansChanged, AppChanged}, self._graph),
            ({EventCommitted, ArtifactsChanged}, self._files),
            ({AppChanged}, self._app),
            ({RunChanged}, self._recipient),
            ({ForksChanged}, self._lineage),
            ({BreakpointsChanged}, self._breakpoints),
            ({OutputArrived, SessionChanged}, self._log_and_title),
            ({NoteChanged}, self._notes.changes),
            ({TagsChanged}, self._tags),
            ({QueueChanged, RunChanged}, self._queue),
            ({JournalChanged, NoticesChanged}, self._journal),
        )
        """The functions that render the pieces, in order, with the news that triggers each."""
        self._makers = self._past_makers() if past else self._makers

    def _past_makers(self) -> Makers:
        """The pieces that a page as of an earlier event still needs."""
        return (
            ({EventCommitted}, self._grown),
            ({RunChanged, PositionChanged, RunStuck}, self._position),
            ({BreakpointsChanged}, self._breakpoints),
            ({OutputArrived, SessionChanged}, self._log_and_title),
            ({NoteChanged}, self._notes.changes),
            ({TagsChanged}, self._tags),
            ({JournalChanged, NoticesChanged}, self._journal),
        )

    async def begin(self, after: int) -> None:
        """Load what the page shows up to seq `after` of the journal."""
        self._count = await self._growth.begin(after)

    async def render(self, batch: Batch) -> Markup:
        """Return the pieces for a batch of news; empty if the page needs none."""
        kinds: set[type[News]] = {type(news) for news in batch.news}
        kinds |= set(_UNKEPT if batch.begins else ())
        pieces = Markup("")
        for triggers, make in self._makers:
            if kinds & triggers:
                pieces += await make(batch)
        return pieces

    async def _history(self, batch: Batch) -> Markup:
        self._count += sum(isinstance(news, EventCommitted) for news in batch.news)
        return await self._growth.add(batch, self._lost_updates.marks)

    # --- pieces that show the present ------------------------------------------------------

    async def _present(self, _: Batch) -> Markup:
        render, key = self._services.render, self._session.key
        self._session = await self._services.journal.sessions.get(key) or self._session
        marks = await ticks_of(self._services, key, self._filter, count=self._count)
        panel = await state(self._services, self._session, None)
        ask = replace("#history-ask", render.part(HistoryReload(key_history_url(key))))
        strip = await watch_strip(self._services, self._session, None)
        return (
            fill("#ticks", render.part(marks))
            + replace("#state-live", render.part(panel))
            + replace("#watched-now", render.part(strip))
            + ask
        )

    async def _grown(self, batch: Batch) -> Markup:
        """Return the session's new length, for a page of the past."""
        self._count += sum(isinstance(news, EventCommitted) for news in batch.news)
        services, key = self._services, self._session.key
        marks = await ticks_of(services, key, self._filter, count=self._count)
        return fill("#ticks", services.render.part(marks))

    async def _position(self, _: Batch) -> Markup:
        """Return the status of the current run, for a page of the past."""
        services, key = self._services, self._session.key
        live, newest = services.runs.live(key), await services.journal.runs.newest(key)
        status = services.render.part(await run_of(services, key, newest))
        return fill("#run", status) + fill("#debugger", services.render.part(debugger(live)))

    async def _chips(self, _: Batch) -> Markup:
        chips = await filter_chips(self._services.journal, self._session.key, self._filter)
        return fill("#filter-chips", self._services.render.part(chips))

    async def _totals(self, _: Batch) -> Markup:
        part, costs = self._services.render.part, await spending(self._services, self._session)
        figures = await totals(self._services, self._session, costs)
        return fill("#totals", part(figures)) + fill("#spending", part(costs))

    async def _in_flight(self, _: Batch) -> Markup:
        render, live = self._services.render, self._services.runs.live(self._session.key)
        view = self._services.view
        rows = fill("#live-rows", render.part(live_rows(live, view, self._filter)))
        chat = live_chat(live, view)
        await prepare(message.text for message in chat.messages)
        return rows + fill("#live-chat", render.part(chat))

    async def _queue(self, _: Batch) -> Markup:
        panel = await queue_panel(self._services, self._session)
        return fill("#queue", self._services.render.part(panel))

    async def _debugger(self, batch: Batch) -> Markup:
        services, key = self._services, self._session.key
        live, newest = services.runs.live(key), await services.journal.runs.newest(key)
        if newest is not None and newest.seq > batch.seq:
            return Markup("")  # its last events and its end come next
        part = services.render.part
        self._committing = is_committing(live)
        return (
            fill("#run", part(await run_of(services, key, newest)))
            + fill("#debugger", part(debugger(live)))
            + fill("#held", part(held_rows(live, services.book)))
            + fill("#resume", part(await resume(services, key, live)))
        )

    async def _committed(self, _: Batch) -> Markup:
        """Replace the commands and held rows once a held event has been committed.

        Something else may be held by then, and the commands for the previous position would be
        refused.
        """
        live, part = self._services.runs.live(self._session.key), self._services.render.part
        if not self._committing or is_committing(live):
            return Markup("")
        self._committing = False
        orders = fill("#debugger", part(debugger(live)))
        return orders + fill("#held", part(held_rows(live, self._services.book)))

    async def _stays(self, _: Batch) -> Markup:
        """Update the resume form: an app that was just loaded may turn out unable to resume."""
        services, key = self._services, self._session.key
        if is_resumable(services, self._session.app):
            return Markup("")  # keeps what a person has chosen in the form
        return fill(
            "#resume", services.render.part(await resume(services, key, services.runs.live(key)))
        )

    async def _activity(self, _: Batch) -> Markup:
        """Make the Run tab reload if it is open."""
        ask = TabAsk("activity", activity_url(self._session.key), "#activity-event")
        return replace("#activity-ask", self._services.render.part(ask))

    async def _replay(self, batch: Batch) -> Markup:
        """Return the replay's progress or result."""
        live = self._services.runs.live(self._session.key)
        changed = any(isinstance(news, RunChanged) for news in batch.news)
        if not (changed or batch.begins or (live and live.is_replay)):
            return Markup("")
        replay = await replay_of(self._services, self._session)
        return fill("#replay", self._services.render.part(replay))

    async def _trace(self, _: Batch) -> Markup:
        """Make the tab with the spans reload if it is open."""
        ask = TabAsk("trace", trace_url(self._session.key), "#trace-event")
        return replace("#trace-ask", self._services.render.part(ask))

    async def _request(self, _: Batch) -> Markup:
        """Make the Request tab reload if it shows the newest request."""
        ask = TabAsk("request", request_url(self._session.key), "#diff-with", inside="#panel")
        return replace("#request-ask", self._services.render.part(ask))

    async def _graph(self, _: Batch) -> Markup:
        """Make the Graph tab reload if it is open."""
        ask = TabAsk("graph", graph_url(self._session.key), "#graph-event")
        return replace("#graph-ask", self._services.render.part(ask))

    async def _files(self, _: Batch) -> Markup:
        """Make the tab with the artifacts reload if it is open."""
        ask = TabAsk("files", files_url(self._session.key), "#file-shown")
        return replace("#files-ask", self._services.render.part(ask))

    async def _status(self, _: Batch) -> Markup:
        services, session = self._services, self._session
        live, app = services.runs.live(session.key), app_status(services, session.app)
        is_imported = await services.journal.imports.get(session.key) is not None
        size = await services.journal.totals.size(session.key)
        are_objects = bool(services.apps.objects)
        warnings = services.render.parts(notices(session, size, app, live, are_objects=are_objects))
        composer = services.render.part(composer_state(live, app, is_imported=is_imported))
        return fill("#warnings", warnings) + fill("#composer-state", composer)

    async def _recipient(self, _: Batch) -> Markup:
        """Update which agent receives the next message; the text typed so far stays."""
        services, session = self._services, self._session
        to = await recipient(services, session, app_status(services, session.app))
        field = ComposerField(to.name, await unsent(services, session))
        render = services.render
        return replace("#composer-text", render.part(field)) + fill("#composer-to", render.part(to))

    async def _journal(self, _: Batch) -> Markup:
        notices_now = server_notices(self._services, on_session=True)
        return fill("#journal", self._services.render.parts(notices_now))

    async def _app(self, batch: Batch) -> Markup:
        """Update what depends on the app, which may have been loaded since the page was made."""
        services, session = self._services, self._session
        app = app_status(services, session.app)
        to = await self._recipient(batch)
        markup = services.render.part(await welcome(services, session, app))
        engine = session_engine(session, app)
        return (
            to
            + replace("#welcome", markup)
            + replace("#on-engine", services.render.part(EngineLabel(engine.name)))
            + replace("#runs-on", services.render.part(engine))
        )

    async def _breakpoints(self, _: Batch) -> Markup:
        services, session = self._services, self._session
        marks = await self._marks.changes(session)
        # Render the list last: an outdated one would undo a switch that was just pressed.
        items = services.render.part(breakpoints(services, session))
        count = Markup("{}").format(enabled_count(services, session))
        ask = replace(
            "#sheet-ask", services.render.part(RenewBreakpointsHere(breaks_here_url(session.key)))
        )
        return fill("#breakpoints", items) + fill("#count-breaks", count) + ask + marks

    async def _lost_reads(self, batch: Batch) -> Markup:
        return await self._lost_updates.changes(self._session, batch)

    async def _lineage(self, _: Batch) -> Markup:
        part = await lineage(self._services, self._session)
        return fill("#lineage", self._services.render.part(part))

    async def _tags(self, _: Batch) -> Markup:
        return tag_updates(self._services, await session_tags(self._services, self._session))

    async def _log_and_title(self, batch: Batch) -> Markup:
        pieces = Markup("")
        for news in batch.news:
            if isinstance(news, OutputArrived):
                lines = [log_line(news.first + i, line) for i, line in enumerate(news.lines)]
                pieces += append("#log-live", self._services.render.parts(lines))
            elif isinstance(news, SessionChanged):
                pieces += self._new_title(news.session)
        return pieces

    def _new_title(self, session: SessionRow | None) -> Markup:
        if session is None:
            return deletion_notice(self._services.render)
        self._session = session
        title = fill("#title", self._services.render.part(session_title(session)))
        return title + say("#named", session_name(session))


def deletion_notice(render: Renderer) -> Markup:
    """Return the notice that the page's session was deleted."""
    notice = Notice("bad", "This session was deleted.", href="/", label="All apps")
    return fill("#warnings", render.part(notice))


_PAUSE = 0.05
"""Minimum seconds between two messages; news that arrives in between goes out together."""
_BURST = 2
"""Messages sent without a pause after `_PAUSE` seconds without news: the start of a run with the
message that it answers, and the first words of the answer."""
_PATIENCE = 0.04
"""Seconds that the start of a run waits for that message: about as long as a browser takes to show
a change."""
_EVENT = 0.01
"""Extra pause for each further event in a message, in seconds: the rate at which a browser can show
events. Of a streamed answer, a message carries only the latest text."""
_LONGEST = 1.0
"""Maximum seconds of that pause."""
_RESET = "reset"
"""Event name: the page can't be brought up to date and has to be reloaded."""
_SHARE = 3
"""The pause after a message, as a multiple of the CPU time that rendering it took."""


async def session(request: Request) -> Response:
    """Stream everything that happens in a session after `after` or the last message received.

    A reader whose offset is from another journal is told to reload the page, even if this journal
    has a session with the same number. A reader that returns to a deleted session gets a notice.
    """
    here = services_of(request)
    try:
        after = _position(request, here.journal.id)
    except ForeignOffset:
        return stream_response(_reset(), streams=here.streams)
    try:
        services, row = await session_of(request)
    except NotFound:
        if not after:
            raise
        return stream_response(_deleted(here), streams=here.streams)
    past = request.query_params.get("past") == "yes"
    event_filter = FilterInput.read(request.query_params.get("filter")).filter
    messages = _session_messages(services, row, after, past=past, event_filter=event_filter)
    return stream_response(messages, streams=services.streams)


async def apps(request: Request) -> Response:
    """Stream changes of the apps: loaded, changed on disk, broken."""
    services = services_of(request)
    return stream_response(_app_messages(services), streams=services.streams)


async def _session_messages(
    services: Services, row: SessionRow, after: int, *, past: bool, event_filter: Filter | None
) -> AsyncGenerator[Message, None]:
    page = LivePage(services, row, past=past, event_filter=event_filter)
    await search(services, row, event_filter)
    async with services.rendering:
        await page.begin(after)
    try:
        news = follow(services.journal, services.bus, row.key, after, APPS, patience=_PATIENCE)
        with services.runs.viewing(row.key):
            async with aclosing(news) as batches:
                burst, idle_since = 0, time.monotonic()
                async for batch in batches:
                    is_rested = time.monotonic() - idle_since > _PAUSE
                    burst = _BURST if is_rested else max(0, burst - 1)
                    if any(isinstance(each, SessionRemade) for each in batch.news):
                        yield Message("", event=_RESET)
                        return
                    async with services.rendering:
                        start = time.thread_time()
                        html = await page.render(batch)
                        cooldown = _SHARE * (time.thread_time() - start)
                    if html:
                        yield Message(html, id=str(StreamOffset(services.journal.id, batch.seq)))
                    events = sum(isinstance(each, EventCommitted) for each in batch.news)
                    pause = min(_EVENT * max(0, events - 1), _LONGEST)
                    if SessionChanged(None) in batch.news:
                        return
                    await asyncio.sleep(pause if burst > 1 else max(_PAUSE, cooldown, pause))
                    idle_since = time.monotonic()
    except TooFarBehind:
        yield Message("", event=_RESET)


async def _app_messages(services: Services) -> AsyncGenerator[Message, None]:
    while not services.bus.closed:
        with services.bus.subscribe(APPS) as reader:
            news = True
            while news:  # also right away: apps may have changed since the page was made
                yield Message(await _apps_now(services))
                await asyncio.sleep(_PAUSE)
                news = bool(await reader.batch())


async def _apps_now(services: Services) -> Markup:
    """Return every app as shown in the list of apps and on its own page."""
    counts = await services.journal.sessions.counts()
    pieces = Markup("")
    for name in services.apps.names():
        source = await asyncio.to_thread(services.apps.source, name)
        app = services.workers.status(name)
        card = app_card(app, source, *counts.get(name, (0, None)))
        pieces += replace(f'[id="app-{name}"]', services.render.part(card))
        head = app_head(app, source.about, services.workers.engines.default)
        pieces += replace(f'[id="head-{name}"]', services.render.part(head))
    return pieces + fill("#journal", services.render.parts(server_notices(services)))


async def _deleted(services: Services) -> AsyncGenerator[Message, None]:
    yield Message(deletion_notice(services.render))


async def _reset() -> AsyncGenerator[Message, None]:
    yield Message("", event=_RESET)


def _position(request: Request, journal: str) -> int:
    """Return the seq that the reader has reached; raises ForeignOffset."""
    offsets = (request.query_params.get("after"), request.headers.get("last-event-id"))
    return max(StreamOffset.read(text, journal).seq for text in offsets)
