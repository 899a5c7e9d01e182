"""Replays as the pages show them."""

from devui.web import links
from devui.web.panels.jobs.panel import JobList
from devui.web.panels.replays.parts import Replay, ReplayField, ReplayForm, ReplayRun
from devui.web.panels.tests.parts import (
    CheckChoice,
    MakeTestPage,
    RunChoice,
    TestOutcome,
    TestPreview,
)

KEY = 7

DIVERGED = Replay(
    title="Replay diverged",
    tone="other",
    text="FlightAgent calls book with different arguments than recorded: city differs.",
    source_href=links.session_url(KEY, event=1),
    source="#1 to #12 of Flight to London",
    fields=(
        ReplayField("city", (("removed", "London"),), (("added", "Oslo"),)),
        ReplayField("day", (), (("added", "Tuesday"),)),
    ),
    expected='{"tool": "book"}',
    actual='{"tool": "cancel"}',
    nearest='{"type": "tool", "name": "pay"}',
    notes=("a person dropped an event",),
    event_href=links.session_url(KEY, event=3),
    event="#3 as recorded",
    action=links.replays_url(KEY),
    run="run-1",
    live_tools=True,
)
GOING = Replay(
    title="Replay",
    text="7 of 12 events, no live calls",
    action=links.replays_url(KEY),
    committed=7,
    recorded=12,
)
FORM = ReplayForm(
    action=links.replays_url(KEY),
    runs=(ReplayRun("run-2", "#13 to #15, failed"), ReplayRun("run-1", "#1 to #12")),
    default="run-1",
    play_href=links.moment_url(KEY, 1, tab="run"),
    test_href=links.test_url(KEY),
    jobs=JobList(links.jobs_url(KEY)),
)

MAKING = TestPreview(
    file="tests/test_travel_7.py",
    code="def test_book_a_flight() -> None:\n    result = play(AGENT, HERE)\n",
    recordings="1 recording",
    redacted=("a value of .env, 3 times",),
    there=True,
    command="devui test tests/test_travel_7.py",
    outcome=TestOutcome("failed", "1 failed in 0.4 s"),
)
RUNS = (
    RunChoice(
        "run-1",
        "test_book_a_flight",
        links.session_url(KEY, event=1),
        "#1",
        is_chosen=True,
        checks=(
            CheckChoice("run-1:error", "No error", is_chosen=True, always=True),
            CheckChoice("run-1:text", "Final text: Booked.", is_chosen=True),
            CheckChoice("run-1:state:plan", "State plan at the end", is_chosen=False),
        ),
    ),
)
PAGES = {
    "make-test": MakeTestPage(
        "auto",
        "Flight to London",
        links.session_url(KEY),
        links.test_url(KEY),
        "/home/me/trips",
        RUNS,
        keep=False,
        preview=MAKING,
        jobs=JobList("/jobs?session=7"),
    )
}
