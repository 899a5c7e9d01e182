"""Replays as the pages show them."""

from devui.web import links
from devui.web.pages.keeping import MakeTestPage
from devui.web.parts import every as parts

KEY = 7

DIVERGED = parts.Replay(
    title="Replay diverged",
    tone="other",
    text="FlightAgent calls book with other arguments than recorded: city differs.",
    source_href=links.session_url(KEY, event=1),
    source="#1 to #12 of Flight to London",
    fields=(
        parts.ReplayField("city", (("removed", "London"),), (("added", "Oslo"),)),
        parts.ReplayField("day", (), (("added", "Tuesday"),)),
    ),
    expected='{"tool": "book"}',
    actual='{"tool": "cancel"}',
    nearest='{"type": "tool", "name": "pay"}',
    notes=("an event was dropped by hand",),
    event_href=links.session_url(KEY, event=3),
    event="#3 as recorded",
    action=links.replays_url(KEY),
    run="run-1",
    live_tools=True,
)
GOING = parts.Replay(title="Replay", text="no live calls", action=links.replays_url(KEY))
FORM = parts.ReplayForm(
    action=links.replays_url(KEY),
    runs=(parts.ReplayRun("run-2", "#13 to #15, failed"), parts.ReplayRun("run-1", "#1 to #12")),
    watch_href=links.moment_url(KEY, 13, tab="run"),
    test_href=links.test_url(KEY),
)

MAKING = parts.TestPreview(
    file="tests/test_travel_7.py",
    code="def test_book_a_flight() -> None:\n    result = play(AGENT, HERE)\n",
    recordings="1 recording",
    redacted=("a value of .env, 3 times",),
    there=True,
)
RUNS = (
    parts.RunChoice(
        "run-1",
        "test_book_a_flight",
        links.session_url(KEY, event=1),
        "#1",
        chosen=True,
        checks=(
            parts.CheckChoice("run-1:error", "No error", chosen=True, always=True),
            parts.CheckChoice("run-1:text", "Says at the end: Booked.", chosen=True),
            parts.CheckChoice("run-1:state:plan", "State plan at the end", chosen=False),
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
    )
}
