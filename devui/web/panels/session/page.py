"""The session page: its panes, its menus, and the data loaded for them."""

from dataclasses import dataclass
from typing import ClassVar, Final

from devui.debugger.apps.apps import UnknownApp
from devui.debugger.predicates.filters import Filter, FilterInput
from devui.debugger.runs.live import LiveRun, Streaming
from devui.debugger.workers.workers import AppStatus
from devui.store.journal import Journal
from devui.store.rows import EventRow, RunRow, SessionRow
from devui.store.summaries import Kind
from devui.web.basic_parts import Notice, Theme
from devui.web.links import (
    app_url,
    choose_url,
    create_session_url,
    delete_url,
    export_url,
    messages_url,
    rename_url,
    rows_url,
    runs_url,
    session_url,
    stream_url,
    test_url,
)
from devui.web.page_query import EVERYTHING, PageQuery
from devui.web.panels.apps.lists import (
    engine_name,
    example_prompts,
    fork_mark,
    session_name,
    unnamed,
)
from devui.web.panels.breakpoints.gutter import Gutter
from devui.web.panels.chat.chat import markdown_texts
from devui.web.panels.chat.parts import (
    Chat,
    ChatMessage,
    Composer,
    ComposerField,
    ComposerState,
    LiveChat,
    LiveMessage,
    Prompt,
    RunNote,
    Welcome,
)
from devui.web.panels.chat.recipient import recipient
from devui.web.panels.chat.run_notes import unsent_parts
from devui.web.panels.hold.panel import debugger, held_rows
from devui.web.panels.hold.parts import Debugger
from devui.web.panels.inspector.inspector import inspector, tab_of
from devui.web.panels.inspector.parts import Inspector
from devui.web.panels.notes.parts import note_form
from devui.web.panels.queue.panel import queue_panel
from devui.web.panels.queue.parts import QueuePanel
from devui.web.panels.recovery.actions import unsent
from devui.web.panels.recovery.panel import lineage, resume
from devui.web.panels.recovery.parts import RerunMenu, Resume
from devui.web.panels.replays.panel import replay as replay_of
from devui.web.panels.replays.parts import Replay
from devui.web.panels.runs.status import run_of, run_status
from devui.web.panels.session.notices import notices, server_notices
from devui.web.panels.session.parts import (
    EngineLabel,
    EngineOfApp,
    MenuItem,
    PageStream,
    Title,
    TopBar,
    Transport,
)
from devui.web.panels.settings.panel import run_settings
from devui.web.panels.tags.panel import session_tags, tag_form
from devui.web.panels.tags.parts import TitleTags
from devui.web.panels.timeline.chips import filter_chips
from devui.web.panels.timeline.filtering import (
    RowsWithGaps,
    filter_bar,
    filtered_rows,
    of_live_row,
    with_matches,
)
from devui.web.panels.timeline.gaps import Gap, gap
from devui.web.panels.timeline.kinds import WORDS, shape
from devui.web.panels.timeline.panel_parts import GapContent, NewerEventsLink, Timeline
from devui.web.panels.timeline.parts import LiveRow, LiveRows, TimelineItem
from devui.web.panels.timeline.transport import transport
from devui.web.panels.timeline.window import (
    SIZE,
    Window,
    nothing_to_send,
    window_around,
    window_at,
    window_before,
    without_forms,
)
from devui.web.panels.trace.switch import shown_trace, view_switch
from devui.web.panels.usage.usage import spending, totals, totals_at
from devui.web.panels.watch.panel import watch_strip
from devui.web.panels.watch.parts import WatchStrip
from devui.web.security.redaction import View
from devui.web.services import Services
from devui.web.stream_offset import StreamOffset
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import joined, moment, plural
from devui.web.text.gates import SENTENCES
from devui.web.text.markdown import prepare
from devui.web.text.plain_text import without_markdown


@dataclass(frozen=True, slots=True)
class SessionPage:
    """`/sessions/{key}`: chat, timeline, inspector."""

    template: ClassVar[str] = "pages/session.html"
    theme: Theme
    key: int
    name: str
    """The session's title, for the browser's tab."""
    topbar: TopBar
    chat: Chat
    timeline: Timeline
    inspector: Inspector
    transport: Transport
    debugger: Debugger
    replay: Replay
    stream: PageStream
    watch_strip: WatchStrip
    notices: tuple[Notice, ...] = ()
    journal: tuple[Notice, ...] = ()
    """Problems of the journal and the server."""
    tour: str = ""
    """Where to create a session for the tour of the debugger; "" without the sample it uses."""
    on_tour: bool = False
    """Whether this is a session of that sample."""
    is_drawer_open: bool = False
    """Whether the address names a tab: narrow windows then open the inspector with the page."""
    origin: str = ""
    """What tells a fork or replay from others with its title, for the browser's tab; "" if it is
    neither."""


@dataclass(frozen=True, slots=True)
class RerunPage:
    """`/sessions/{key}/events/{number}/again`: a message's menu as a page, without JavaScript."""

    template: ClassVar[str] = "pages/again.html"
    theme: Theme
    name: str
    session_href: str
    menu: RerunMenu


@dataclass(frozen=True, slots=True)
class FilterResult:
    """The answer to a filter: the timeline, the parts that link to its rows, and the stream from
    then on. The chat and the text being typed stay as they are."""

    template: ClassVar[str] = "timeline/filter_result.html"
    timeline: Timeline
    inspector: Inspector
    transport: Transport
    stream: PageStream


def session_title(row: SessionRow) -> Title:
    """Return the name in the top bar, which is replaced in place."""
    return Title(row.key, visible(row.title or ""), unnamed(row), rename_url(row.key))


async def session_menu(
    services: Services, rows: list[SessionRow], current: int
) -> tuple[MenuItem, ...]:
    """Return the newest sessions of an app, for the menu to switch between them."""
    forks = await services.journal.forks.among([row.key for row in rows])

    async def note(row: SessionRow) -> str:
        word = "this session" if row.key == current else await _menu_word(services, row.key)
        number = f"session {row.key}" if row.title else ""
        return joined(number, fork_mark(forks.get(row.key)), word)

    return tuple(
        [
            MenuItem(
                label=session_name(row),
                href=session_url(row.key),
                note=await note(row),
                current=row.key == current,
                updated=None if row.key == current else moment(row.updated),
            )
            for row in sorted(rows, key=lambda row: row.updated, reverse=True)
        ]
    )


async def _menu_word(services: Services, session: int) -> str:
    """Return the status of a session's newest run; "" for a run that ended well, because finding
    out whether it waits for an answer would mean reading its events."""
    live = services.runs.live(session)
    run = await services.journal.runs.newest(session)
    status = run_status(run, is_held=live is not None and bool(live.stepper.holds))
    return "" if status.status in {"done", "idle"} else status.word


def app_menu(names: list[str], current: str) -> tuple[MenuItem, ...]:
    """Return the menu of all apps, with the current one marked."""
    return tuple(MenuItem(name, app_url(name), current=name == current) for name in names)


_IN_MENU = 12
_ROW_TEXT = 200


def app_status(services: Services, name: str) -> AppStatus | None:
    """Return the status of an app; None if its folder is gone."""
    try:
        return services.workers.status(name)
    except UnknownApp:
        return None


def live_rows(live: LiveRun | None, view: View, event_filter: Filter | None = None) -> LiveRows:
    """Return the rows of the answers being streamed that match the filter."""
    rows = (_live_row(answer, view) for answer in (live.streaming.values() if live else ()))
    return LiveRows(
        tuple(r for r in rows if not event_filter or event_filter.holds(of_live_row(r)))
    )


def _live_row(answer: Streaming, view: View) -> LiveRow:
    kind: Kind = "call" if answer.calls else "text" if answer.text else "thought"
    words = view.growing(answer.text or answer.thought)
    text = ", ".join(answer.calls)[-_ROW_TEXT:] or without_markdown(words[-_ROW_TEXT:])
    return LiveRow(
        shape=shape(kind, final=False),
        kind=kind,
        word=WORDS[kind],
        author=visible(answer.author),
        text=visible(text),
        chunks=plural(answer.chunks, "chunk"),
    )


def live_chat(live: LiveRun | None, view: View) -> LiveChat:
    """Return the bubbles of the answers being streamed."""
    if live is None:
        return LiveChat()
    messages = tuple(
        LiveMessage(
            author=visible(answer.author),
            text=view.growing(answer.text),
            thought=view.growing(answer.thought),
            chunks=answer.chunks,
        )
        for answer in live.streaming.values()
    )
    waiting, since = "" if messages else "working", None
    if live.stepper.holds:
        waiting = SENTENCES[live.stepper.holds[0].arrival.gate].lower()
    elif tools := [span for span in live.recording.open.values() if span.type == "tool"]:
        waiting = ", ".join(dict.fromkeys(visible(span.name) for span in tools))
        since = moment(tools[0].at)
    return LiveChat(unsent_parts(live.row), messages, waiting, since)


def composer_state(
    live: LiveRun | None, app: AppStatus | None, *, is_imported: bool = False
) -> ComposerState:
    """Return whether a message can be sent now, and if not, why."""
    if is_imported:
        return ComposerState("Imported: fork it to send a message")
    if live is not None:
        return ComposerState(queues=True)
    if app is None:
        return ComposerState("This server doesn't have the app: this session is read-only")
    return ComposerState()


async def session_page(
    services: Services,
    session: SessionRow,
    row: EventRow | None,
    *,
    tab: str | None,
    theme: Theme,
    query: PageQuery = EVERYTHING,
) -> SessionPage:
    """Return the whole page; its stream continues from `head`, without a gap or duplicates."""
    data = await _stand(services, session, row, query)
    session, query, at = data.session, data.query, query.at
    live, app = services.runs.live(session.key), app_status(services, session.app)
    size = await services.journal.totals.size(session.key)
    open_tab = tab_of(tab, has_selection=bool(row))
    return SessionPage(
        theme=theme,
        key=session.key,
        name=session_name(session),
        topbar=await _topbar(services, session, data.run, at),
        chat=await _chat(services, data, live, app),
        timeline=await _timeline(services, data, row, tab),
        inspector=await inspector(services, session, row, open_tab, query=query),
        transport=await transport(services, session, row, tab, query=query),
        debugger=debugger(live),
        replay=await replay_of(services, session),
        stream=_stream(services, data, data.head),
        watch_strip=await watch_strip(services, session, row, at=at),
        tour=tour_url(services),
        on_tour=session.app == _TOUR,
        is_drawer_open=tab is not None,
        origin=await _origin(services, session),
        notices=notices(session, size, app, live, are_objects=bool(services.apps.objects)),
        journal=server_notices(services, on_session=True),
    )


async def _origin(services: Services, session: SessionRow) -> str:
    forks = await services.journal.forks.among([session.key])
    mark = fork_mark(forks.get(session.key))
    return mark and joined(f"session {session.key}" if session.title else "", mark)


async def filter_result(
    services: Services,
    session: SessionRow,
    row: EventRow | None,
    *,
    tab: str | None,
    query: PageQuery,
    offset: StreamOffset | None,
) -> FilterResult:
    """Return what a filter changes on a page whose stream has brought it to `offset`. The new
    stream continues from there because the chat isn't reloaded; rows sent twice are shown once."""
    data = await _stand(services, session, row, query)
    session, query, open_tab = data.session, data.query, tab_of(tab, has_selection=bool(row))
    return FilterResult(
        timeline=await _timeline(services, data, row, tab),
        inspector=await inspector(services, session, row, open_tab, query=query),
        transport=await transport(services, session, row, tab, query=query),
        stream=_stream(services, data, min(offset.seq, data.head) if offset else data.head),
    )


@dataclass(frozen=True, slots=True)
class Newest:
    """The last window of the events since a given one."""

    rows: GapContent[TimelineItem]
    messages: GapContent[ChatMessage | RunNote]


async def newest(
    services: Services, session: SessionRow, head: int, event_filter: Filter | None, *, after: int
) -> Newest:
    """Return the newest events after number `after` as of `head`, at most a window."""
    key = session.key
    window = await window_before(services.journal, key, head + 1)
    before = window.rows[0].number - 1 if window.rows else after
    messages = GapContent(window.messages(), gap(key, after + 1, before, in_grid=False))
    if event_filter is not None:
        filter_query = PageQuery(filter_field=FilterInput(event_filter.text, event_filter))
        query = await with_matches(services, session, filter_query, head=head)
        rows = await filtered_rows(services, session, None, query=query, after=after)
        return Newest(GapContent(rows.items, rows.above), messages)
    gutter = Gutter.of(services.book, services.prices, session)
    last = window.rows[-1].number if window.rows else after
    items = await window.items(services.journal, gutter, until=last)
    return Newest(GapContent(items, gap(key, after + 1, before)), messages)


_TOUR: Final = "faulty"
_TOURED: Final = "Split the bill of table 7"
"""The heading in that sample's README; an app of the author's own may have the sample's name."""


def tour_url(services: Services) -> str:
    """Return where to create a session of the tour's sample; "" if it isn't served."""
    is_there = _TOUR in services.apps.names() and _TOURED in services.apps.readme(_TOUR)
    return create_session_url(_TOUR) if is_there else ""


@dataclass(frozen=True, slots=True)
class _PageData:
    """The data of a page as of one moment of the journal."""

    head: int
    session: SessionRow
    run: RunRow | None
    query: PageQuery
    """The page's query, with the matches of its filter."""
    window: Window
    rows: RowsWithGaps | None
    """The rows that match the filter; None without one."""

    @property
    def count(self) -> int:
        """The number of the last event that the page has, shown or in a gap."""
        return self.query.at.number if self.query.at else self.session.events

    def gaps(self, *, in_grid: bool) -> tuple[Gap | None, Gap | None]:
        """Return the gaps above and below the window."""
        key, at, rows = self.session.key, self.query.at, self.window.rows
        if not rows:
            return None, None
        number = at.number if at else None
        return (
            gap(key, 1, rows[0].number - 1, at=number, in_grid=in_grid),
            gap(key, rows[-1].number + 1, self.count, at=number, in_grid=in_grid),
        )


async def _stand(
    services: Services, session: SessionRow, row: EventRow | None, query: PageQuery
) -> _PageData:
    journal = services.journal
    head, run = await _now(journal, session.key)
    session = await journal.sessions.get(session.key) or session
    query = await with_matches(services, session, query, head=head)
    window = await _window(journal, session, row, head, query.at)
    rows = await filtered_rows(services, session, row, query=query) if query.matches else None
    return _PageData(head, session, run, query, window, rows)


def _stream(services: Services, data: _PageData, after: int) -> PageStream:
    """Return the stream of everything after seq `after`, in the form of this page."""
    return PageStream(
        stream_url(
            data.session.key,
            StreamOffset(services.journal.id, after),
            past=data.query.at is not None,
            only=data.query.filter,
        )
    )


async def _timeline(
    services: Services, data: _PageData, row: EventRow | None, tab: str | None
) -> Timeline:
    """Return the rows of the window, or those that match the filter, and the trace if shown."""
    session, query, rows = data.session, data.query, data.rows
    live = None if query.at else services.runs.live(session.key)
    at = query.at.number if query.at else None
    later = session.events - data.count
    if rows is None:
        rows = await _rows(services, data, row)
    return Timeline(
        items=rows.items,
        live=live_rows(live, services.view, query.filter_field.filter),
        held_rows=held_rows(live, services.book),
        count=data.count,
        switch=view_switch(session, row, tab, query),
        trace=await shown_trace(services, session, row, query),
        filter=filter_bar(session, row, query),
        gaps_href=rows_url(session.key, only=query.filter, at=at),
        chips=await filter_chips(services.journal, session.key, query.filter_field.filter, at=at),
        above=rows.above,
        below=rows.below,
        later=NewerEventsLink(session_url(session.key, only=query.filter), later)
        if later
        else None,
    )


async def _rows(services: Services, data: _PageData, row: EventRow | None) -> RowsWithGaps:
    """Return the rows of the window, without a filter."""
    gutter = Gutter.of(services.book, services.prices, data.session)
    items = await data.window.items(
        services.journal, gutter, until=data.count, selection=row.number if row else None
    )
    return RowsWithGaps(items, *data.gaps(in_grid=True))


async def _window(
    journal: Journal, session: SessionRow, row: EventRow | None, head: int, at: EventRow | None
) -> Window:
    """Return the newest events, or those around the selected one."""
    if at is not None:
        return await window_at(journal, at, row)
    if row is None or row.number > session.events - SIZE:
        return await window_before(journal, session.key, head + 1)
    return await window_around(journal, session.key, row)


async def _now(journal: Journal, session: int) -> tuple[int, RunRow | None]:
    """Return the journal's head and the newest run as of then.

    A run that changes in between is read again: its status on the page must not be newer than the
    rows, or a page without a stream would report an end that its rows don't show.
    """
    while True:
        head, run = await journal.head(), await journal.runs.newest(session)
        if run is None or run.seq <= head:
            return head, run


async def _topbar(
    services: Services, session: SessionRow, run: RunRow | None, at: EventRow | None
) -> TopBar:
    costs = await spending(services, session, until=at.number if at else None)
    figures = await (totals_at(services, at, costs) if at else totals(services, session, costs))
    newest = await services.journal.sessions.list(session.app, limit=_IN_MENU)
    engine = session_engine(session, app_status(services, session.app))
    tags = await session_tags(services, session)
    return TopBar(
        app=session.app,
        app_href=app_url(session.app),
        engine=engine,
        engine_label=EngineLabel(engine.name),
        apps=app_menu(services.apps.names(), session.app),
        title=session_title(session),
        lineage=await lineage(services, session),
        sessions=await session_menu(services, newest, session.key),
        delete_action=delete_url(session.key),
        compare_href=choose_url(str(session.key)),
        user=visible(session.user),
        session=session.key,
        session_id=visible(session.id),
        run=await run_of(services, session.key, run),
        totals=figures,
        spending=costs,
        tags=TitleTags(tags),
        tag_form=await tag_form(services, session, tags),
        note=note_form(session.key, 0, await services.journal.notes.get(session.key, 0)),
        export_href=export_url(session.key),
        test_href=test_url(session.key),
    )


def session_engine(session: SessionRow, app: AppStatus | None) -> EngineOfApp:
    """Return the engine that the session's app runs on, if the app is loaded."""
    info = app.info.engine if app and app.info else None
    reason = visible(info.reason) if info else ""
    return EngineOfApp(engine_name(info), reason, href=app_url(session.app))


async def _chat(
    services: Services, data: _PageData, live: LiveRun | None, app: AppStatus | None
) -> Chat:
    session, window, at = data.session, data.window, data.query.at
    is_imported = await services.journal.imports.get(session.key) is not None
    messages = without_forms(window.messages()) if at or is_imported else window.messages()
    chat = live_chat(None if at else live, services.view)
    await prepare([*markdown_texts(messages), *(message.text for message in chat.messages)])
    above, below = data.gaps(in_grid=False)
    to = await recipient(services, session, app)
    return Chat(
        welcome=await welcome(services, session, app),
        gaps_href=messages_url(session.key, at=at.number if at else None),
        above=above,
        below=below,
        messages=messages,
        live=chat,
        resume=Resume() if at else await resume(services, session.key, live),
        composer=Composer(
            action=runs_url(session.key),
            field=ComposerField(to.name, await unsent(services, session)),
            recipient=to,
            state=nothing_to_send(at.number)
            if at
            else composer_state(live, app, is_imported=is_imported),
            settings=await run_settings(services, session, app),
        ),
        queue=QueuePanel() if at else await queue_panel(services, session),
    )


def _about(services: Services, name: str, app: AppStatus | None) -> str:
    if app is None:
        return ""
    return (app.info.description if app.info else "") or services.apps.about(name)


async def welcome(services: Services, session: SessionRow, app: AppStatus | None) -> Welcome:
    """Return the text of an empty chat; there is more of it once the app is loaded."""
    keys = await services.journal.sessions.initial_keys(session.key)
    readme = services.apps.readme(session.app) if app else ""
    return Welcome(
        app=session.app,
        description=visible(_about(services, session.app, app)),
        prompts=tuple(Prompt(text) for text in example_prompts(readme)),
        action=runs_url(session.key),
        initial_state=f"{plural(keys, 'state key')} set at the start" if keys else "",
    )
