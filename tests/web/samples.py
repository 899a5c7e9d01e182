"""Realistic models for the gallery and the template tests: the travel agent of the events seed."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from devui.debugger.breakpoints.breakpoints import Draft
from devui.debugger.prices import Prices
from devui.debugger.rewinds import TakenBack
from devui.store.rewinds import Rewind
from devui.store.rows import OutputLine, RunRow
from devui.web import links
from devui.web.cursor import Cursor
from devui.web.pages.session import SessionPage
from devui.web.parts import every as parts
from devui.web.presenters.chat import conversation
from devui.web.presenters.detail import event_detail
from devui.web.presenters.margins import Margins, Stop
from devui.web.presenters.rewound import taken_marked
from devui.web.presenters.rows import earlier, live_row, timeline_items
from devui.web.presenters.runs import log_line, run_end, run_note
from devui.web.presenters.status import run_status
from devui.web.presenters.ticks import ticks
from devui.web.text.figures import UNKNOWN, compact
from devui.web.text.jsontext import json_text
from tests.web import filter_samples, held_samples, replay_samples, state_samples
from tests.web.travel_samples import KEY, NOW, Stored, text

PRICES = Prices.load(Path("nowhere"))
MARGINS = Margins(
    PRICES,
    (
        Stop(1, Draft(on="tool", name="search_flights"), True),
        Stop(2, Draft(on="state", name="retries", condition="new > 2"), True),
        Stop(3, Draft(on="event", name="user", log="{text}"), False),
    ),
)
NOTHING_SPENT = parts.Spending((), UNKNOWN, "", PRICES.date)
SPENDING = parts.Spending(
    lines=(
        parts.SpendingLine(
            "FlightAgent", "gemini-2.5-flash", "3", "2,104", "512", "188", "96", "0.0031"
        ),
        parts.SpendingLine("TravelAgent", "scripted-1", "2", "655", "0", "41", "0", UNKNOWN),
    ),
    cost="$0.0031+",
    unpriced="2 answers",
    date=PRICES.date,
)


def tabs(current: parts.TabKey, number: int | None) -> tuple[parts.Tab, ...]:
    keys: tuple[parts.TabKey, ...] = ("event", "state", "raw", "log", "breaks")
    return tuple(
        parts.Tab(
            key, key.title(), links.session_url(KEY, event=number, tab=key), key == current, str(i)
        )
        for i, key in enumerate(keys, 1)
    )


def inspector(
    panel: parts.Panel, current: parts.TabKey, number: int | None = None
) -> parts.Inspector:
    return parts.Inspector(current, tabs(current, number), panel, sticky=number is not None)


def event_panel(events: list[Stored], number: int) -> parts.EventDetail:
    row, summary, event = events[number - 1]
    pieces = [{"content": text(piece)} for piece in ("London ", "has three ", "airports. ")]
    return event_detail(
        event,
        row,
        state_samples.CHANGES if number == 11 else [],
        summary=summary,
        prices=PRICES,
        chunks=pieces * 13 if row.chunks else (),
    )


def raw_panel(events: list[Stored], number: int) -> parts.RawPanel:
    return parts.RawPanel(number, json_text(events[number - 1][2]))


def log_panel(*, live: bool = False) -> parts.LogPanel:
    lines = [
        OutputLine("stdout", "looking for airports near London", NOW),
        OutputLine("travel.fares", "find_airports took 0.41 s", NOW + 0.4),
        OutputLine("stderr", "DeprecationWarning: old fares API", NOW + 0.5),
        OutputLine("travel.fares", "fares service slow, trying again", NOW + 2.5),
    ]
    return parts.LogPanel(
        run="run-1",
        lines=tuple(log_line(n, line) for n, line in enumerate(lines, 1201)),
        live=live,
        ask_href=links.log_tab_url(KEY),
        left_out="1,200 earlier lines not shown",
        href=links.log_url("run-1"),
    )


def transport(kinds: list[Any], selected: int | None) -> parts.Transport:
    count = len(kinds)
    return parts.Transport(
        action=links.session_url(KEY),
        ticks=ticks(kinds),
        selected=selected,
        spoken=f"event {selected or count} of {count}",
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
        cursor=parts.CursorLinks(
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
    parts.Prompt("Book a flight to London next Tuesday"),
    parts.Prompt("Which airports does Paris have?"),
    parts.Prompt("Remember that I live in Zurich and save my itinerary as a file"),
)
WELCOME = parts.Welcome(
    app="travel",
    description="Plans trips: finds airports, searches flights and keeps an itinerary.",
    prompts=PROMPTS,
    action=links.runs_url(KEY),
    initial_state="3 state keys set at the start",
)


def topbar(run: RunRow | None, events: int, tokens: int | None) -> parts.TopBar:
    app = links.app_url("travel")
    return parts.TopBar(
        app="travel",
        app_href=app,
        apps=(
            parts.MenuItem("faulty", links.app_url("faulty"), "broken"),
            parts.MenuItem("field_state", links.app_url("field_state")),
            parts.MenuItem("travel", app, current=True),
        ),
        title=parts.Title("Flight to London", "session 4f21c9", links.rename_url(KEY)),
        sessions=(
            parts.MenuItem("Flight to London", links.session_url(KEY), "13 events", current=True),
            parts.MenuItem("A very long name of a session that was about Paris", "/sessions/3"),
        ),
        lineage=parts.Lineage(
            parent=parts.ForkLink(links.session_url(2, event=3), "Flight to Paris", "at #3"),
            compare_href=links.choose_url("2", str(KEY)),
            siblings=(parts.ForkLink(links.session_url(3), "Flight to Rome", "at #3", "cheaper"),),
        ),
        delete_action=links.delete_url(KEY),
        compare_href=links.choose_url(str(KEY)),
        user="user",
        session_id="4f21c9d0-5d1e-4b8e-9d3a-1f0f6c2b7a11",
        run=run_status(run),
        totals=parts.Totals(str(events), compact(tokens), "$0.0031+", "6.1" if events else UNKNOWN),
        spending=SPENDING if events else NOTHING_SPENT,
        note=parts.NoteForm(0, links.note_url(KEY, 0), "the first trip", by="by Ada"),
        export_href=links.export_url(KEY),
        test_href=links.test_url(KEY),
    )


WORDS = "I found two flights before ten. The cheaper one is **LX 316**, leaving at"


def chat(events: list[Stored], run: RunRow | None, *, live: bool = False) -> parts.Chat:
    """The chat pane of some events."""
    running = run is not None and run.status == "running"
    note = run_note(run, told=False) if run else None
    said = parts.LiveMessage("FlightAgent", WORDS, thought="The cheaper one.", chunks=17)
    return parts.Chat(
        welcome=WELCOME,
        messages=conversation([(r.number, e, s) for r, s, e in events], session=KEY)
        + ((note,) if note else ()),
        live=parts.LiveChat(
            (), (said,) if live else (), "FlightAgent is working" if running else ""
        ),
        resume=held_samples.RESUME
        if run is not None and run.status == "interrupted"
        else parts.Resume(),
        composer=parts.Composer(
            action=links.runs_url(KEY),
            field=parts.ComposerField("Message TravelAgent"),
            state=parts.ComposerState(
                "FlightAgent is answering" if running else "",
                links.stop_url("run-1") if running else None,
            ),
        ),
    )


def timeline(
    events: list[Stored],
    run: RunRow | None,
    *,
    selected: int | None = None,
    live: bool = False,
    is_held: bool = False,
    first: int = 0,
) -> parts.Timeline:
    """The timeline of some events; those before `first` are left out."""
    end = run_end(run) if run else None
    rows = [(row, summary) for row, summary, _ in events[first:]]
    before = events[first - 1][0] if first else None
    rewound = TakenBack((Rewind(5, 3),))
    return parts.Timeline(
        filter=filter_samples.FILTER if selected else filter_samples.UNFILTERED,
        items=taken_marked(
            timeline_items(rows, MARGINS, previous=before, selected=selected), rewound, KEY
        )
        + ((end,) if end else ()),
        live=parts.LiveRows((live_row("FlightAgent", WORDS, chunks=17),) if live else ()),
        held=held_samples.HELD if is_held else parts.Held(),
        count=len(events),
        earlier=earlier(KEY, rows[0][0]) if rows else None,
    )


def session_page(
    events: list[Stored],
    *,
    panel: parts.Inspector,
    selected: int | None = None,
    run: RunRow | None = RUN,
    live: bool = False,
    is_held: bool = False,
    first: int = 0,
    notices: tuple[parts.Notice, ...] = (),
) -> SessionPage:
    """The page of a session."""
    return SessionPage(
        theme="auto",
        key=KEY,
        name="Flight to London",
        topbar=topbar(run, len(events), 3211 if events else None),
        chat=chat(events[first:], run, live=live),
        timeline=timeline(events, run, selected=selected, live=live, is_held=is_held, first=first),
        inspector=panel,
        transport=transport([s.kind for _, s, _ in events], selected),
        debugger=held_samples.STEPS if is_held else parts.Debugger(),
        replay=replay_samples.DIVERGED if is_held else parts.Replay(),
        stream=parts.PageStream(links.stream_url(KEY, Cursor("0123456789abcdef", 140))),
        notices=notices,
    )
