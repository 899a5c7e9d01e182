"""The session page, put together from the journal and from the run that is under way."""

from dataclasses import dataclass, replace

from devui.debugger.apps import UnknownApp
from devui.debugger.filters import Filter, Typed
from devui.debugger.live import LiveRun, Streaming
from devui.debugger.summary import Kind
from devui.debugger.workers import AppStatus
from devui.store.journal import Journal
from devui.store.rows import EventRow, RunRow, SessionRow
from devui.web.cursor import Cursor
from devui.web.links import (
    app_url,
    choose_url,
    delete_url,
    export_url,
    runs_url,
    stop_url,
    stream_url,
    test_url,
)
from devui.web.pages import Theme
from devui.web.pages.session import SessionPage
from devui.web.parts import every as parts
from devui.web.presenters.breaking import NOTHING_ASKED, Asked
from devui.web.presenters.chat import written
from devui.web.presenters.chip import run_of
from devui.web.presenters.debugging import debugger, held
from devui.web.presenters.examples import example_prompts
from devui.web.presenters.filtering import Shown, filter_bar, of_live_row, shown, sought
from devui.web.presenters.inspection import inspector, tab_of
from devui.web.presenters.kinds import WORDS, shape
from devui.web.presenters.lists import session_name
from devui.web.presenters.margins import Margins
from devui.web.presenters.menus import app_menu, session_menu, session_title
from devui.web.presenters.notices import notices
from devui.web.presenters.noting import note_form
from devui.web.presenters.past import nothing_to_send, unasked, window_at
from devui.web.presenters.recovering import lineage, resume
from devui.web.presenters.replays import replay as replay_of
from devui.web.presenters.rows import earlier, later
from devui.web.presenters.runs import unsaid
from devui.web.presenters.servernotices import server_notices
from devui.web.presenters.spending import spending, totals, totals_at
from devui.web.presenters.transport import transport
from devui.web.presenters.window import SIZE, Window, window_around, window_before
from devui.web.recovery import unsent
from devui.web.security.veil import Veil
from devui.web.services import Services
from devui.web.text.figures import plural
from devui.web.text.gates import SENTENCES
from devui.web.text.markdown import prepare
from devui.web.text.visible import visible

_IN_MENU = 12
_ROW_TEXT = 200


def app_status(found: Services, name: str) -> AppStatus | None:
    """What is known of an app; None when its folder is gone."""
    try:
        return found.workers.status(name)
    except UnknownApp:
        return None


def live_rows(live: LiveRun | None, veil: Veil, wanted: Filter | None = None) -> parts.LiveRows:
    """The rows of what is being streamed, as far as the filter lets them through."""
    rows = (_live_row(answer, veil) for answer in (live.streaming.values() if live else ()))
    return parts.LiveRows(tuple(r for r in rows if not wanted or wanted.holds(of_live_row(r))))


def _live_row(answer: Streaming, veil: Veil) -> parts.LiveRow:
    kind: Kind = "call" if answer.calls else "text" if answer.text else "thought"
    text = ", ".join(answer.calls) or veil.growing(answer.text or answer.thought)
    return parts.LiveRow(
        shape=shape(kind, final=False),
        kind=kind,
        word=WORDS[kind],
        author=visible(answer.author),
        text=visible(text[-_ROW_TEXT:]),
        chunks=plural(answer.chunks, "chunk"),
    )


def live_chat(live: LiveRun | None, veil: Veil) -> parts.LiveChat:
    """The bubbles of what is being streamed."""
    if live is None:
        return parts.LiveChat()
    messages = tuple(
        parts.LiveMessage(
            author=visible(answer.author),
            text=veil.growing(answer.text),
            thought=veil.growing(answer.thought),
            chunks=answer.chunks,
        )
        for answer in live.streaming.values()
    )
    return parts.LiveChat(unsaid(live.row), messages, _doing(live, bool(messages)))


def _doing(live: LiveRun, streaming: bool) -> str:
    if live.stepper.holds:
        return SENTENCES[live.stepper.holds[0].arrival.gate].lower()
    return "" if streaming else "working"


def composer_state(
    live: LiveRun | None, app: AppStatus | None, *, imported: bool = False
) -> parts.ComposerState:
    """Whether a message can be sent now."""
    if imported:
        return parts.ComposerState("Imported: fork it to send a message")
    if live is not None:
        return parts.ComposerState("A run is under way", stop_url(live.row.id))
    if app is None:
        return parts.ComposerState("The app's folder is gone: this session can only be read")
    return parts.ComposerState()


def composer_field(session: SessionRow, app: AppStatus | None) -> parts.ComposerField:
    """The field for a message; it names the agent, or the app as long as that is not loaded."""
    agent = app.info.agents[0].name if app and app.info else session.app
    return parts.ComposerField(f"Message {visible(agent)}")


async def session_page(
    found: Services,
    session: SessionRow,
    row: EventRow | None,
    *,
    tab: str | None,
    theme: Theme,
    asked: Asked = NOTHING_ASKED,
) -> SessionPage:
    """The whole page; the stream it names completes it from `head` on, without gap or double."""
    stand = await _stand(found, session, row, asked)
    session, asked, at = stand.session, stand.asked, asked.at
    live, app = found.runs.live(session.key), app_status(found, session.app)
    size = await found.journal.totals.size(session.key)
    opened = tab_of(tab, selected=bool(row))
    return SessionPage(
        theme=theme,
        key=session.key,
        name=session_name(session),
        topbar=await _topbar(found, session, stand.run, at),
        chat=await _chat(found, session, stand.window, live, app, at),
        timeline=_timeline(found, stand, row),
        inspector=await inspector(found, session, row, opened, asked=asked),
        transport=await transport(found, session, row, tab, asked=asked),
        debugger=debugger(live),
        replay=await replay_of(found, session),
        stream=_stream(found, stand, stand.head),
        opened=tab is not None,
        notices=notices(session, size, app, live),
        journal=server_notices(found),
    )


async def narrowed(
    found: Services,
    session: SessionRow,
    row: EventRow | None,
    *,
    tab: str | None,
    asked: Asked,
    seen: Cursor | None,
) -> parts.Narrowed:
    """What a filter changes of a page whose stream has brought it to `seen`. The new stream goes
    on from there, for the sake of the chat; rows that come twice are shown once."""
    stand = await _stand(found, session, row, asked)
    session, asked, opened = stand.session, stand.asked, tab_of(tab, selected=bool(row))
    return parts.Narrowed(
        timeline=_timeline(found, stand, row),
        inspector=await inspector(found, session, row, opened, asked=asked),
        transport=await transport(found, session, row, tab, asked=asked),
        stream=_stream(found, stand, min(seen.seq, stand.head) if seen else stand.head),
    )


async def newest(
    found: Services, session: SessionRow, head: int, wanted: Filter | None
) -> parts.Older:
    """The newest events as of the journal's `head`, as the page begins with them."""
    window = await window_before(found.journal, session.key, head + 1)
    if wanted is not None:
        typed = Asked(typed=Typed(wanted.text, wanted))
        asked = await sought(found, session, typed, head=head)
        rows = await shown(found, session, None, asked=asked, before=head + 1)
        return parts.Older(rows.items, window.messages(), rows.earlier)
    first = window.events[0][0] if window.events else None
    items = window.items(Margins.of(found, session))
    return parts.Older(items, window.messages(), earlier(session.key, first))


@dataclass(frozen=True, slots=True)
class _Stand:
    """What a page is made of, as of one moment of the journal."""

    head: int
    session: SessionRow
    run: RunRow | None
    asked: Asked
    """With what the filter found."""
    window: Window
    rows: Shown | None
    """Those that the filter lets through, if there is one."""
    tail: bool
    """Whether new rows follow on."""


async def _stand(
    found: Services, session: SessionRow, row: EventRow | None, asked: Asked
) -> _Stand:
    journal = found.journal
    head, run = await _now(journal, session.key)
    session = await journal.sessions.get(session.key) or session
    asked = await sought(found, session, asked, head=head)
    window, tail = await _window(journal, session, row, head, asked.at)
    rows = await shown(found, session, row, asked=asked) if asked.matches else None
    return _Stand(head, session, run, asked, window, rows, rows.tail if rows else tail)


def _stream(found: Services, stand: _Stand, after: int) -> parts.PageStream:
    """Everything that comes after a point of the journal, as this page shows it."""
    return parts.PageStream(
        stream_url(
            stand.session.key,
            Cursor(found.journal.id, after),
            tail="past" if stand.asked.at else None if stand.tail else "no",
            only=stand.asked.filter,
        )
    )


def _timeline(found: Services, stand: _Stand, row: EventRow | None) -> parts.Timeline:
    """The rows of the window, or those that a filter lets through."""
    session, asked, window, rows = stand.session, stand.asked, stand.window, stand.rows
    live = None if asked.at else found.runs.live(session.key)
    count = asked.at.number if asked.at else session.events
    first = window.events[0][0] if window.events else None
    items = window.items(Margins.of(found, session), row.number if row else None)
    return parts.Timeline(
        items=rows.items if rows else items,
        live=live_rows(live, found.veil, asked.typed.filter),
        held=held(live, found.book),
        count=count,
        filter=filter_bar(session, row, asked),
        earlier=rows.earlier
        if rows
        else earlier(session.key, first, at=asked.at.number if asked.at else None),
        later=_later(stand, count),
    )


def _later(stand: _Stand, count: int) -> parts.Later | None:
    """What is said below rows that the newest ones, up to number `count`, do not follow on."""
    key, asked, rows = stand.session.key, stand.asked, stand.rows
    at = asked.at.number if asked.at else None
    if rows is not None and rows.below:
        return later(key, len(rows.below), rows.below[0], at=at, only=asked.filter)
    last = stand.window.events[-1][0].number if rows is None and stand.window.events else count
    if stand.tail or last >= count:
        return later(key, stand.session.events - count, None, only=asked.filter)
    return later(key, stand.session.events - last, last + 1, at=at)


async def _window(
    journal: Journal, session: SessionRow, row: EventRow | None, head: int, at: EventRow | None
) -> tuple[Window, bool]:
    """The newest events, or those around the selected one; and whether new ones follow on."""
    if at is not None:
        return await window_at(journal, at, row), False
    if row is None or row.number > session.events - SIZE:
        return await window_before(journal, session.key, head + 1), True
    return await window_around(journal, session.key, row), False


async def _now(journal: Journal, session: int) -> tuple[int, RunRow | None]:
    """The journal's head, and the newest run as it was then.

    A run that changes in between is looked at again: its status on the page must not be newer than
    the rows, or a page without a stream would tell of an end that it does not show.
    """
    while True:
        head, run = await journal.head(), await journal.runs.newest(session)
        if run is None or run.seq <= head:
            return head, run


async def _topbar(
    found: Services, session: SessionRow, run: RunRow | None, at: EventRow | None
) -> parts.TopBar:
    spent = await spending(found, session, until=at.number if at else None)
    shown = await (totals_at(found, at, spent) if at else totals(found, session, spent))
    newest = await found.journal.sessions.list(session.app, limit=_IN_MENU)
    return parts.TopBar(
        app=session.app,
        app_href=app_url(session.app),
        apps=app_menu(found.apps.names(), session.app),
        title=session_title(session),
        lineage=await lineage(found, session),
        sessions=session_menu(newest, session.key),
        delete_action=delete_url(session.key),
        compare_href=choose_url(str(session.key)),
        user=visible(session.user),
        session_id=visible(session.id),
        run=await run_of(found, session.key, run),
        totals=shown,
        spending=spent,
        note=note_form(session.key, 0, await found.journal.notes.get(session.key, 0)),
        export_href=export_url(session.key),
        test_href=test_url(session.key),
    )


async def _chat(
    found: Services,
    session: SessionRow,
    window: Window,
    live: LiveRun | None,
    app: AppStatus | None,
    at: EventRow | None,
) -> parts.Chat:
    imported = await found.journal.imports.get(session.key) is not None
    messages = unasked(window.messages()) if at or imported else window.messages()
    chat = live_chat(None if at else live, found.veil)
    await prepare([*written(messages), *(message.text for message in chat.messages)])
    return parts.Chat(
        welcome=await welcome(found, session, app),
        messages=messages,
        live=chat,
        resume=parts.Resume() if at else await resume(found, session.key, live),
        composer=parts.Composer(
            action=runs_url(session.key),
            field=replace(composer_field(session, app), draft=await unsent(found, session)),
            state=nothing_to_send(at.number)
            if at
            else composer_state(live, app, imported=imported),
        ),
    )


def _about(found: Services, name: str, app: AppStatus | None) -> str:
    if app is None:
        return ""
    return (app.info.description if app.info else "") or found.apps.about(name)


async def welcome(found: Services, session: SessionRow, app: AppStatus | None) -> parts.Welcome:
    """What an empty chat says; more of it once the app has been loaded."""
    keys = len(await found.journal.sessions.initial_state(session.key))
    readme = found.apps.readme(session.app) if app else ""
    return parts.Welcome(
        app=session.app,
        description=visible(_about(found, session.app, app)),
        prompts=tuple(parts.Prompt(text) for text in example_prompts(readme)),
        action=runs_url(session.key),
        initial_state=f"{plural(keys, 'state key')} set at the start" if keys else "",
    )
