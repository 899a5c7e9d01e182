"""Renders every page from the samples and takes screenshots of it for review.

    python -m tests.web.gallery FOLDER [name…]

Each page is captured in light and dark, 1440, 1100 and 900 pixels wide, with the pages' own content
security policy. Errors in the browser's console are printed.
"""

import functools
import http.server
import itertools
import sys
import threading
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from devui.web.assets import STATIC_PREFIX, Assets
from devui.web.basic_parts import Field, Notice
from devui.web.openapi import Group, OperationRow, Parameter, ReferencePage
from devui.web.panels.apps.parts import AppPage, AppsPage, DeletePage, NewSession
from devui.web.panels.apps.piece import PiecePage
from devui.web.panels.breakpoints.from_event import breakpoint_sheet
from devui.web.panels.bundles.parts import (
    ExportedPage,
    ExportPage,
    ImportedPage,
    ImportedSession,
    KeyChoice,
    Omission,
)
from devui.web.panels.chat.content_parts import (
    CallPart,
    CodePart,
    CutPart,
    FilePart,
    JsonInText,
    OtherPart,
    OutputPart,
    PlainPreview,
    Source,
    SourcesPart,
    TablePreview,
    TextPart,
    ThoughtPart,
    TranscriptPart,
)
from devui.web.panels.chat.parts import AnswerLine, ArtifactChip, ChatMessage, ToolOutcome
from devui.web.panels.frames.parts import PicturePage
from devui.web.panels.inspector.mark_parts import RewindMark, RewindNews
from devui.web.panels.inspector.parts import Hint, Panel, Selection, StateTab, TabKey
from devui.web.panels.jobs.panel import JobItem, JobList
from devui.web.panels.notes.parts import NoteForm
from devui.web.panels.recovery.parts import RerunMenu, UndoRewind
from devui.web.panels.runs.failure import run_failure
from devui.web.panels.session.page import FilterResult, RerunPage
from devui.web.panels.session.parts import EventTip, PageStream
from devui.web.panels.state.parts import HistoryReload, ReloadedHistory
from devui.web.panels.timeline.gaps import gap
from devui.web.panels.timeline.panel_parts import GapContent, NewerEventsLink
from devui.web.render import Model, Renderer
from devui.web.security.headers import CONTENT_SECURITY_POLICY
from devui.web.text.jsontree import json_tree
from devui.web.text.remote_pictures import RemotePicture
from tests.web import (
    activity_samples,
    app_samples,
    break_samples,
    compare_samples,
    file_samples,
    filter_samples,
    held_samples,
    history_samples,
    memory_samples,
    replay_samples,
    request_samples,
    samples,
    search_samples,
    settings_samples,
    state_samples,
    travel_samples,
    trial_samples,
    watch_samples,
)
from tests.web.samples import session_page
from tests.web.travel_samples import Stored

ASSETS = Assets.find()
SIZES = {1440: 900, 1100: 800, 900: 800}
TOOLS = "/apps/travel/tools"
SELECTED = {
    "session-event": 11,
    "session-text": 5,
    "session-error": 9,
    "session-state": 11,
    "session-raw": 11,
    "session-huge": 2,
}


RUN = OperationRow(
    "POST",
    "/run",
    "Run an agent",
    "The answer has every event.",
    (Parameter("at", "The number of an event."),),
    ("appName", "userId"),
    ("events",),
)


def long_session() -> list[Stored]:
    """Return three hundred events in twenty-five turns."""
    rows: list[Stored] = []
    at = travel_samples.NOW
    for turn in range(25):
        events = travel_samples.FIRST + travel_samples.SECOND[1:]
        block = travel_samples.stored(
            events, invocation=f"e-{turn}", start=len(rows) + 1, at=at + 30
        )
        rows += block
        at = block[-1][0].timestamp
    return rows


DECEPTIVE = (
    "Deceptive \u202etxt.exe and <img src=x onerror=alert(1)> `code`\n\n"
    "```python\ndef f(x):\n    return x + 1\n```\n\n" + "word " * 300
)


def huge() -> list[Stored]:
    """Return events with a value of 40,000 characters, a long author, RTL text, and markup."""
    arabic = "احجز رحلة إلى لندن يوم الثلاثاء القادم"
    failed = {"error": "disk full", "n": list(range(120))}
    events = [
        {"author": "user", "content": travel_samples.text(arabic, role="user")},
        {
            "author": "AnAgentWhoseNameIsExactlySixtyCharactersLongAndThenSomeMore12",
            "branch": "root.left.deeper.deepest",
            "content": travel_samples.call(
                "write_report", "adk-9", body="x" * 40_000, title="<b>&\"'</b>"
            ),
        },
        {
            "author": "TravelAgent",
            "content": travel_samples.response("write_report", "adk-9", failed),
        },
        {"author": "TravelAgent", "content": travel_samples.text(DECEPTIVE)},
        {"author": "LLMAgent", "errorCode": "SAFETY", "errorMessage": "Blocked by a filter. " * 12},
    ]
    return travel_samples.stored(events, invocation="e-huge")


GRAPH = "/apps/travel/graph"
MEMORY = "/apps/travel/memory"


def app_pages() -> dict[str, Model]:
    """Return the pages about apps."""
    form = NewSession("/apps/travel/sessions")
    wrong = NewSession(
        "/apps/faulty/sessions",
        "The app cannot be loaded",
        id=Field("../x", "An id may hold letters, digits, - and _."),
        state=Field("{oops", "Not JSON: expected a name in quotes at line 1, column 2."),
        open=True,
    )
    recent = tuple(replace(session, show_app=True) for session in app_samples.SESSIONS)
    folder = "/home/me/agents"
    travel, faulty = (
        app_samples.app_head(app_samples.CARDS[3]),
        app_samples.app_head(app_samples.CARDS[0]),
    )
    return {
        "apps": AppsPage(
            "auto", folder, app_samples.CARDS, recent, app_samples.LEFT_OUT, app_samples.OTHERS
        ),
        "apps-empty": AppsPage("auto", folder, (), (), others=app_samples.FEW_OTHERS),
        "app": AppPage(
            "auto",
            travel,
            app_samples.README,
            form,
            app_samples.LISTED,
            TOOLS,
            GRAPH,
            MEMORY,
            prompts=("Book a flight to London", "I live in Paris"),
        ),
        "app-error": AppPage(
            "auto",
            faulty,
            "",
            wrong,
            app_samples.session_list(text="rome", is_filtered=True),
            TOOLS,
            GRAPH,
            MEMORY,
            unused_files=app_samples.UNREAD,
        ),
        "app-unused": AppPage(
            "auto", faulty, "", form, app_samples.session_list(), TOOLS, GRAPH, MEMORY
        ),
        "delete-sessions": DeletePage(
            "auto",
            "travel",
            "/apps/travel/sessions/delete",
            "/apps/travel",
            "2 sessions",
            "1,2",
            app_samples.SESSIONS[:2],
            "20 more",
            app_samples.SESSIONS[1:2],
        ),
    }


def export_page() -> ExportPage:
    """Return the export page with jobs in progress."""
    jobs = JobList(
        "/jobs?session=7",
        (
            JobItem("a1", "Exporting Flight to London", 42, "/jobs/a1/stop"),
            JobItem("b2", "Exporting Flight to Oslo", None, "/jobs/b2/stop"),
            JobItem("c3", "Canceling: exporting Flight to Rome", None, ""),
        ),
        active=True,
    )
    return ExportPage(
        "auto",
        "Flight to London",
        samples.links.session_url(travel_samples.KEY),
        samples.links.export_url(travel_samples.KEY),
        samples.links.export_api_url(travel_samples.KEY),
        (Omission("a value of .env", "hun…(15 characters)", "3 times", "state, event #4"),),
        (KeyChoice("city", is_chosen=False), KeyChoice("user:mail", is_chosen=True)),
        keep=False,
        format="json",
        jobs=jobs,
    )


def _imported_page() -> ImportedPage:
    return ImportedPage(
        "auto",
        "session.db",
        (
            ImportedSession(
                samples.links.session_url(travel_samples.KEY),
                "Flight to London",
                "travel",
                "ann",
                "8 events",
            ),
        ),
        (
            ImportedSession(
                samples.links.session_url(travel_samples.KEY),
                "Hotel in Paris",
                "travel",
                "ann",
                "5 events",
            ),
        ),
        ("Session s3 wasn't imported: session.db, table events: invalid JSON",),
        samples.links.import_url(as_copy=True, goes_on=False),
    )


def side_pages() -> dict[str, Model]:
    """Return the pages that menus lead to."""
    return {
        "reference": ReferencePage(
            "auto",
            (
                Group(
                    "ADK's REST API",
                    (RUN,),
                ),
            ),
        ),
        "export": export_page(),
        "imported": _imported_page(),
        "picture": PicturePage("https://cats.example/cat.png", "cats.example"),
        "app-piece": PiecePage(
            "auto", "travel", samples.links.app_url("travel"), "Memory", memory_samples.ALL[0]
        ),
        "again": RerunPage(
            "auto",
            "Flight to London",
            samples.links.session_url(travel_samples.KEY),
            RerunMenu(
                1,
                samples.links.rewind_url(travel_samples.KEY),
                samples.links.forks_url(travel_samples.KEY),
                samples.links.replays_url(travel_samples.KEY),
                "Book a flight to London",
                "8 events (#1 to #8)",
                "destination, date",
            ),
        ),
        **replay_samples.PAGES,
        **search_samples.PAGES,
        **state_samples.PAGES,
        "exported": ExportedPage(
            "Flight to London",
            "travel",
            "user",
            "4f21c9",
            "8 events",
            ("bug", "needs review"),
            NoteForm(0, samples.links.note_url(travel_samples.KEY, 0), "the first trip"),
            state_samples.state_at(None),
            file_samples.GRAPH,
        ),
    }


def live_pages() -> dict[str, Model]:
    """Return the session page as of now, in various states of its run."""
    travel, long = travel_samples.travel(), long_session()
    running = replace(samples.RUN, status="running", started=travel_samples.NOW, ended=None)
    now = samples.inspector(state_samples.state_tab(None), "state")
    hint = samples.inspector(Hint("No event is selected", "Choose a row."), "event")
    log = samples.inspector(samples.log_panel(), "log")
    breaks = samples.inspector(break_samples.breakpoints_panel(), "breaks")
    activity = samples.inspector(activity_samples.PANEL, "run")
    no_breaks = samples.inspector(break_samples.breakpoints_panel(filled=False), "breaks")
    text = "ModuleNotFoundError agent.py:3"
    notice = Notice("bad", "travel failed to load.", text, "/apps/travel", "Show")
    return {
        "session-empty": session_page([], panel=now, run=None),
        "session-live": session_page(travel[:-1], panel=now, run=running, live=True),
        "session-waiting": session_page(travel[:6], panel=hint, run=running),
        "session-log": session_page(travel[:9], panel=log, run=samples.FAILED, notices=(notice,)),
        "session-breaks": session_page(travel, panel=breaks),
        "session-activity": session_page(travel, panel=activity, run=running),
        "session-no-breaks": session_page(travel, panel=no_breaks),
        "session-held": session_page(travel[:9], panel=now, run=running, is_held=True),
        "session-interrupted": session_page(
            travel[:9], panel=now, run=replace(samples.RUN, status="interrupted")
        ),
        "session-long": session_page(long, panel=now, first=100),
    }


def selected_pages() -> dict[str, Model]:
    """Return the session page with an event selected."""
    travel, big = travel_samples.travel(), huge()
    panels: dict[str, tuple[list[Stored], Panel, TabKey]] = {
        "session-event": (travel, samples.event_panel(travel, 11), "event"),
        "session-text": (travel, samples.event_panel(travel, 5), "event"),
        "session-error": (
            travel,
            replace(samples.event_panel(travel, 9), failure=run_failure(samples.ERROR)),
            "event",
        ),
        "session-state": (
            travel,
            StateTab(
                state_samples.state_at(11), state_samples.state_with(11), history_samples.HISTORY
            ),
            "state",
        ),
        "session-raw": (travel, samples.raw_panel(travel, 11), "raw"),
        "session-huge": (big, samples.event_panel(big, 2), "event"),
    }
    return {
        name: session_page(
            events,
            panel=samples.inspector(panel, tab, SELECTED[name]),
            selected=SELECTED[name],
        )
        for name, (events, panel, tab) in panels.items()
    }


def alone() -> list[Model]:
    """Return parts that are sent on their own, in a response or a stream."""
    travel = travel_samples.travel()
    rows = samples.timeline(travel[5:], None)
    panel = samples.event_panel(travel, 11)
    selection = (
        samples.inspector(panel, "event", 11),
        samples.transport([s.kind for _, s, _ in travel], 11),
    )
    return [
        *rows.items,
        *samples.chat(travel, samples.FAILED).messages,
        GapContent(rows.items, gap(7, 1, 5), gap(7, 16, 40)),
        GapContent(samples.chat(travel, None).messages, gap(7, 1, 5, in_grid=False)),
        Selection(
            *selection, watch_samples.STRIP, request_samples.SPANS, request_samples.WATERFALL
        ),
        FilterResult(rows, *selection, PageStream("/sessions/7/stream?filter=kind:call")),
        breakpoint_sheet(*travel[10][:2], break_samples.SHEET[0]),
        *break_samples.SHEET,
        state_samples.state_at(None),
        ReloadedHistory(history_samples.HISTORY, history_samples.BAR),
        HistoryReload("/sessions/7/state/history"),
        history_samples.BAR,
        *held_samples.OF_EVENTS,
        NewerEventsLink("/sessions/7", 31),
        search_samples.RESULTS,
        EventTip(7, "result", "result", "Agent", "look → 3", (("plan", "", "[1]"),), 2),
        UndoRewind(5, samples.links.rewind_url(travel_samples.KEY), "#3 to #4"),
        *request_samples.ALL,
        *compare_samples.ALL,
        state_samples.STATE_DIFF,
        *filter_samples.ALL,
        StateTab(state_samples.STATE_DIFF, state_samples.state_with(11, since=4)),
        *trial_samples.ALL,
        *file_samples.ALL,
        *memory_samples.ALL,
        *settings_samples.ALL,
        *watch_samples.ALL,
        *activity_samples.ALL,
        replay_samples.FORM,
        replay_samples.GOING,
        replay_samples.DIVERGED,
        replace(replay_samples.MAKING, paths=("tests/test_it.py",), command="devui test it"),
        replace(replay_samples.MAKING, code="", error="no place for a test"),
        *samples.log_panel().lines,
        *held_samples.ASKED,
        *held_samples.RESENT,
        RewindNews(3, 5, (RewindMark(0, 6, "/sessions/7?event=6", "row"),)),
        *content(),
    ]


def content() -> list[Model]:
    """Return every kind of content part."""
    return [
        ThoughtPart("Hm.", open=True),
        CodePart("python", "print(1 < 2)"),
        OutputPart("ok", "True"),
        OutputPart("failed", "NameError: name 'x' is not defined", has_failed=True),
        FilePart("chart.png", "image/png", "12 kB"),
        FilePart(
            "cat.png",
            "image/png",
            href="https://cats.example/cat.png",
            remote_picture=RemotePicture("https://cats.example/cat.png", "cats.example"),
        ),
        ToolOutcome("t-1", "done", "0.85", "/sessions/7?event=6", attempt=3, number=6),
        ChatMessage(5, "error", "Agent", (), "/sessions/7?event=5", "'GBP'", "KeyError", attempt=2),
        AnswerLine("Answered", "ask_manager", '{"status": "approved"}'),
        AnswerLine("Rejected", "pay", ""),
        AnswerLine("Provided a credential", "", ""),
        ArtifactChip(
            "plan.csv", 1, file_samples.HREF, "text/csv", "1.2 kB", file_samples.HREF, opens=False
        ),
        ArtifactChip("old.csv", 0, file_samples.HREF),
        ArtifactChip(
            "map.png",
            0,
            file_samples.HREF,
            "image/png",
            "35 kB",
            "/sessions/7?tab=artifacts&file=map.png",
            is_picture=True,
        ),
        (markup := PlainPreview("<b>bold</b>")),
        (table := TablePreview(("city", "nights"), (("Rome", "2"),), "3 more rows not shown.")),
        FilePart("page.html", "text/html", "9 B", preview=markup),
        FilePart("trips.csv", "text/csv", "19 B", preview=table),
        TranscriptPart("heard", "and for dogs?"),
        CallPart("split", "c-1", json_tree({"bill": -1}), ran="bill=75.6"),
        TextPart("So: …", values=(JsonInText('{"city": "Rome"}', json_tree({"city": "Rome"})),)),
        SourcesPart(
            ("cats & dogs",),
            (
                Source("Cats", "https://cats.example/a", "https://cats.example/a"),
                Source("Our own notes", "", "gs://bucket/b"),
                Source("https://d.example/d", "", "https://d.example/d", "behind a paywall"),
            ),
        ),
        CutPart("MAX_TOKENS", "The answer was cut off at the output token limit."),
        OtherPart("Video metadata", "fps=1", json_tree({"videoMetadata": {"fps": 1}})),
    ]


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files with the real server's content security policy."""

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        super().end_headers()

    def do_GET(self) -> None:
        if "/stream" in self.path:
            return self._answer("text/event-stream", b"event: bye\ndata:\n\n")
        if self.path.startswith(STATIC_PREFIX):
            path, _ = ASSETS.place(self.path.removeprefix(STATIC_PREFIX))
            return self._answer(self.guess_type(path), ASSETS.read(path))
        return super().do_GET()

    def _answer(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        """Log nothing."""


def photograph(page: Page, address: str, name: str, folder: Path) -> None:
    """Capture one page in all sizes and both themes."""
    query = f"?event={SELECTED[name]}" if name in SELECTED else ""
    for (width, height), scheme in itertools.product(SIZES.items(), ("light", "dark")):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{address}/{name}.html{query}")
        page.wait_for_function("document.fonts.status === 'loaded'")
        page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", animations="disabled")


def write(folder: Path, selection: list[str]) -> list[str]:
    """Write the selected pages, or all, as HTML files; return their names."""
    render = Renderer(ASSETS)
    models = app_pages() | side_pages() | live_pages() | selected_pages() | compare_samples.PAGES
    names = [name for name in models if not selection or name in selection]
    for name in names:
        (folder / f"{name}.html").write_text(str(render.part(models[name])))
    return names


def main() -> None:
    """Take the screenshots."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    names = write(folder, sys.argv[2:])
    handler = functools.partial(Handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as driver:
        options = ["--no-sandbox", "--disable-gpu"]
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=options)
        page = browser.new_page()
        page.on("console", lambda m: m.type == "error" and sys.stderr.write(f"{m.text[:300]}\n"))
        page.on("pageerror", lambda error: sys.stderr.write(f"page error: {error}\n"))
        for name in names:
            photograph(page, f"http://127.0.0.1:{server.server_port}", name, folder)
        browser.close()
    server.shutdown()


if __name__ == "__main__":
    main()
