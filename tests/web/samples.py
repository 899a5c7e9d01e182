"""Realistic models for the gallery and the template tests: the travel agent of the events seed."""

import json
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from devui.debugger import timeline as history
from devui.debugger.breakpoints.breakpoint import Draft
from devui.debugger.events.prices import Prices
from devui.debugger.history.rewinds import EffectiveRewinds
from devui.store.rows import EventRow, OutputLine, Rewind, RunRow
from devui.store.runs.work_time import seconds_of_work
from devui.web import links
from devui.web.basic_parts import Notice
from devui.web.panels.apps.lists import tag_links
from devui.web.panels.breakpoints.gutter import Gutter, Marker
from devui.web.panels.chat.chat import conversation
from devui.web.panels.chat.content_parts import TextPart
from devui.web.panels.chat.parts import (
    Chat,
    Composer,
    ComposerField,
    ComposerState,
    LiveChat,
    LiveMessage,
    Prompt,
    Recipient,
    Welcome,
)
from devui.web.panels.chat.run_notes import run_note
from devui.web.panels.hold.parts import Debugger, HeldRows
from devui.web.panels.inspector.detail import event_detail
from devui.web.panels.inspector.log import log_line
from devui.web.panels.inspector.parts import (
    EventDetail,
    Inspector,
    LogPanel,
    Panel,
    RawPanel,
    Tab,
    TabKey,
)
from devui.web.panels.notes.parts import NoteForm
from devui.web.panels.queue.parts import QueuedMessage, QueuePanel
from devui.web.panels.recovery.parts import ForkLink, Lineage, Resume
from devui.web.panels.replays.parts import Replay
from devui.web.panels.runs.status import run_status
from devui.web.panels.session.page import SessionPage
from devui.web.panels.session.parts import (
    CursorLinks,
    EngineLabel,
    EngineOfApp,
    MenuItem,
    PageStream,
    Title,
    TopBar,
    Totals,
    Transport,
)
from devui.web.panels.tags.parts import TagField, TagForm, TagList, TitleTags
from devui.web.panels.timeline.gaps import gap
from devui.web.panels.timeline.panel_parts import Timeline
from devui.web.panels.timeline.parts import LiveRow, LiveRows, TimelineItem
from devui.web.panels.timeline.rewind_marks import with_rewind_marks
from devui.web.panels.timeline.rows import RowContext
from devui.web.panels.timeline.runs import run_end
from devui.web.panels.timeline.transport import ticks
from devui.web.panels.usage.parts import Spending, SpendingLine
from devui.web.stream_offset import StreamOffset
from devui.web.text.formats import UNKNOWN, compact, moment
from devui.web.text.jsontree import json_text
from devui.wire.events import Event
from tests.web import (
    filter_samples,
    held_samples,
    replay_samples,
    request_samples,
    settings_samples,
    state_samples,
    watch_samples,
)
from tests.web.travel_samples import KEY, NOW, Stored, text

PRICES = Prices.load(Path("nowhere"))
MARGINS = Gutter(
    PRICES,
    (
        Marker(1, Draft(on="tool", name="search_flights"), True),
        Marker(2, Draft(on="state", name="retries", condition="new > 2"), True),
        Marker(3, Draft(on="event", name="user", log="{text}"), False),
    ),
)
NOTHING_SPENT = Spending((), UNKNOWN, "", PRICES.date)
SPENDING = Spending(
    lines=(
        SpendingLine("FlightAgent", "gemini-2.5-flash", "3", "2,104", "512", "188", "96", "0.0031"),
        SpendingLine("TravelAgent", "scripted-1", "2", "655", "0", "41", "0", UNKNOWN),
    ),
    cost="$0.0031+",
    unpriced="2 answers",
    date=PRICES.date,
)


def tabs(current: TabKey, number: int | None) -> tuple[Tab, ...]:
    keys: tuple[TabKey, ...] = ("event", "state", "raw", "log", "breaks")
    return tuple(
        Tab(key, key.title(), links.session_url(KEY, event=number, tab=key), key == current, str(i))
        for i, key in enumerate(keys, 1)
    )


def inspector(panel: Panel, current: TabKey, number: int | None = None) -> Inspector:
    return Inspector(current, tabs(current, number), panel, sticky=number is not None)


def event_panel(events: list[Stored], number: int) -> EventDetail:
    row, summary, event = events[number - 1]
    pieces = [
        Event.of({"content": text(piece)}) for piece in ("London ", "has three ", "airports. ")
    ]
    panel = event_detail(
        event,
        row,
        state_samples.CHANGES if number == 11 else [],
        summary=summary,
        prices=PRICES,
        chunks=pieces * 13 if row.chunks else (),
    )
    answer = links.session_url(KEY, event=number, tab="request") if row.chunks else ""
    return replace(panel, answer_href=answer)


def raw_panel(events: list[Stored], number: int) -> RawPanel:
    return RawPanel(number, json_text(events[number - 1][2].fields))


def log_panel(*, live: bool = False) -> LogPanel:
    lines = [
        OutputLine("stdout", "looking for airports near London", NOW),
        OutputLine("travel.fares", "find_airports took 0.41 s", NOW + 0.4),
        OutputLine("stderr", "DeprecationWarning: old fares API", NOW + 0.5),
        OutputLine("travel.fares", "fares service slow, trying again", NOW + 2.5),
    ]
    return LogPanel(
        run="run-1",
        lines=tuple(log_line(n, line) for n, line in enumerate(lines, 1201)),
        live=live,
        ask_href=links.log_tab_url(KEY),
        left_out="1,200 earlier lines not shown",
        href=links.log_url("run-1"),
    )


def transport(kinds: list[Any], selected: int | None) -> Transport:
    count = len(kinds)
    return Transport(
        action=links.session_url(KEY),
        ticks=ticks(kinds),
        selected_number=selected,
        value_text=f"event {selected or count} of {count}",
        previous_href=links.session_url(KEY, event=(selected or count) - 1) if count else None,
        next_href=links.session_url(KEY, event=selected + 1)
        if selected and selected < count
        else None,
        live_href=links.session_url(KEY),
        break_action=links.breakpoints_url(KEY),
        hit_hrefs=(
            links.hit_url(KEY, "previous", event=selected),
            links.hit_url(KEY, "next", event=selected) if selected else None,
        ),
        cursor=CursorLinks(
            at=None,
            back=links.moment_url(KEY, selected - 1) if selected and selected > 1 else None,
            on=links.moment_url(KEY, selected + 1) if selected and selected < count else None,
            gap=1.5 if selected and selected < count else None,
            change_back=links.writes_url(KEY, "previous", at=selected),
            change_on=links.writes_url(KEY, "next", at=selected),
        ),
    )


RUN = RunRow("run-1", KEY, "e-90b4d511", "done", None, NOW, NOW + 6.1, 140)
ERROR = json.dumps(
    {
        "type": "KeyError",
        "message": "'fares'",
        "file": "agents/travel/agent.py",
        "line": 48,
        "traceback": "Traceback (most recent call last):\n"
        '  File "agents/travel/agent.py", line 48, '
        "in search_flights\n    return cache['fares'][to]\nKeyError: 'fares'\n",
    }
)
FAILED = replace(
    RUN,
    status="failed",
    error=ERROR,
    message='{"role": "user", "parts": [{"text": "And one to Paris?"}]}',
    unfinished='[{"author": "FlightAgent", "text": "I looked **again** and"}]',
)
PROMPTS = (
    Prompt("Book a flight to London next Tuesday"),
    Prompt("Which airports does Paris have?"),
    Prompt("Remember that I live in Zurich and save my itinerary as a file"),
)
QUEUE = QueuePanel(
    (
        QueuedMessage(
            3,
            (TextPart("And a hotel near the station, please"),),
            "And a hotel near the station, please",
            links.queued_url(KEY, 3),
            can_send=False,
        ),
    ),
    "Queued: sent when this run ends",
)
WELCOME = Welcome(
    app="travel",
    description="Plans trips: finds airports, searches flights and keeps an itinerary.",
    prompts=PROMPTS,
    action=links.runs_url(KEY),
    initial_state="3 state keys set at the start",
)


TAGS = tag_links(("bug", "needs review", "a tag of fifty characters, the most"), "travel")


def topbar(run: RunRow | None, events: int, tokens: int | None) -> TopBar:
    app = links.app_url("travel")
    return TopBar(
        app="travel",
        app_href=app,
        engine=EngineOfApp("google-adk 2.13.0", "its code imports google.adk", href=app),
        engine_label=EngineLabel("google-adk 2.13.0"),
        apps=(
            MenuItem("faulty", links.app_url("faulty"), "broken"),
            MenuItem("field_state", links.app_url("field_state")),
            MenuItem("travel", app, current=True),
        ),
        title=Title(KEY, "Flight to London", "session 7", links.rename_url(KEY)),
        sessions=(
            MenuItem("Flight to London", links.session_url(KEY), "13 events", current=True),
            MenuItem(
                "A very long name of a session that was about Paris",
                "/sessions/3",
                "session 3 · fork at #12 (edited) · failed",
            ),
        ),
        lineage=Lineage(
            parent=ForkLink(links.session_url(2, event=3), "Flight to Paris", "at #3"),
            compare_href=links.choose_url("2", str(KEY)),
            siblings=(ForkLink(links.session_url(3), "Flight to Rome", "at #3", "cheaper"),),
        ),
        delete_action=links.delete_url(KEY),
        compare_href=links.choose_url(str(KEY)),
        user="user",
        session=KEY,
        session_id="4f21c9d0-5d1e-4b8e-9d3a-1f0f6c2b7a11",
        run=replace(run_status(run), errors=3, errors_href=links.session_url(KEY, only="is:error"))
        if run and run.status == "done"
        else run_status(run),
        totals=Totals(str(events), compact(tokens), "$0.0031+", "6.1" if events else UNKNOWN),
        spending=SPENDING if events else NOTHING_SPENT,
        tags=TitleTags(TAGS),
        tag_form=TagForm(links.tags_url(KEY), TagList(TAGS), TagField(("done",))),
        note=NoteForm(0, links.note_url(KEY, 0), "the first trip", by="Ada"),
        export_href=links.export_url(KEY),
        test_href=links.test_url(KEY),
    )


WORDS = "I found two flights before ten. The cheaper one is **LX 316**, leaving at"
_LIVE_ROW = LiveRow("text", "text", "text", "FlightAgent", WORDS, "17 chunks")


def chat(events: list[Stored], run: RunRow | None, *, live: bool = False) -> Chat:
    """Return the chat pane of some events."""
    running = run is not None and run.status == "running"
    note = run_note(run, follows_error=False) if run else None
    doing = ("search_flights", moment(NOW)) if running and not live else ("", None)
    message = LiveMessage("FlightAgent", WORDS, thought="The cheaper one.", chunks=17)
    return Chat(
        welcome=WELCOME,
        gaps_href=links.messages_url(KEY),
        messages=conversation([(r.number, e, s) for r, s, e in events], session=KEY)
        + ((note,) if note else ()),
        live=LiveChat((), (message,) if live else (), *doing),
        resume=held_samples.RESUME if run is not None and run.status == "interrupted" else Resume(),
        composer=Composer(
            action=links.runs_url(KEY),
            field=ComposerField("FlightAgent"),
            recipient=Recipient("FlightAgent", "TravelAgent", "TravelAgent"),
            state=ComposerState(
                "FlightAgent is answering" if running else "",
                queues=running,
            ),
            settings=settings_samples.FILLED if running else settings_samples.EMPTY,
        ),
        queue=QUEUE if running else QueuePanel(),
    )


def timeline_items(
    rows: list[EventRow], *, previous: EventRow | None = None, selected: int | None = None
) -> tuple[TimelineItem, ...]:
    """Return the rows of a window of events."""
    _, changes = history.fold(history.Timeline(previous), map(history.Entry, rows))
    answers = {row.number for row in rows if row.final and row.kind == "text"}
    return RowContext(MARGINS, _invocations(rows), selected, answers=answers).items(changes.items)


def _invocations(rows: list[EventRow]) -> dict[int, history.Invocation]:
    """Return the invocations of these events as the journal would, by event number."""
    by_number = {}
    for _, group in groupby(rows, key=lambda row: row.invocation_id):
        events = [*group]
        counts = [row.summary.tokens for row in events if row.summary.tokens is not None]
        costs = [MARGINS.cost(row.summary) for row in events if row.summary.usage]
        known_costs = [cost for cost in costs if cost is not None]
        invocation = history.Invocation(
            events=len(events),
            seconds=sum(seconds_of_work(row, before) or 0 for before, row in pairwise(events)),
            held=sum(row.paused for row in events[1:]),
            tokens=sum(counts) if counts else None,
            cost=sum(known_costs) if known_costs else None,
            is_unpriced=len(known_costs) < len(costs),
            failures=sum(
                row.kind == "error" or any(each.failed for each in row.summary.responses)
                for row in events
            ),
            message=next((row for row in events if row.summary.kind == "user"), None),
        )
        by_number |= dict.fromkeys([row.number for row in events], invocation)
    return by_number


def timeline(
    events: list[Stored],
    run: RunRow | None,
    *,
    selected: int | None = None,
    live: bool = False,
    is_held: bool = False,
    first: int = 0,
) -> Timeline:
    """Return the timeline of some events, leaving out the first `first` of them."""
    end = run_end(run) if run else None
    rows = [row for row, _, _ in events[first:]]
    before = events[first - 1][0] if first else None
    rewound = EffectiveRewinds((Rewind(5, 3),))
    return Timeline(
        switch=request_samples.EVENTS,
        filter=filter_samples.FILTER if selected else filter_samples.UNFILTERED,
        chips=filter_samples.CHIPS,
        items=with_rewind_marks(
            timeline_items(rows, previous=before, selected=selected), rewound, KEY
        )
        + ((end,) if end else ()),
        live=LiveRows((_LIVE_ROW,) if live else ()),
        held_rows=held_samples.HELD if is_held else HeldRows(),
        count=len(events),
        gaps_href=links.rows_url(KEY),
        above=gap(KEY, 1, first),
    )


def session_page(
    events: list[Stored],
    *,
    panel: Inspector,
    selected: int | None = None,
    run: RunRow | None = RUN,
    live: bool = False,
    is_held: bool = False,
    first: int = 0,
    notices: tuple[Notice, ...] = (),
) -> SessionPage:
    return SessionPage(
        theme="auto",
        key=KEY,
        name="Flight to London",
        topbar=topbar(run, len(events), 3211 if events else None),
        chat=chat(events[first:], run, live=live),
        timeline=timeline(events, run, selected=selected, live=live, is_held=is_held, first=first),
        inspector=panel,
        transport=transport([s.kind for _, s, _ in events], selected),
        debugger=held_samples.STEPS if is_held else Debugger(),
        replay=replay_samples.DIVERGED if is_held else Replay(),
        stream=PageStream(links.stream_url(KEY, StreamOffset("0123456789abcdef", 140))),
        watch_strip=watch_samples.STRIP if selected else watch_samples.NONE,
        notices=notices,
    )
