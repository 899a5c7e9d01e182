"""Replays as the pages show them."""

from devui.web import links, parts

KEY = 7

DIVERGED = parts.Replay(
    title="Replay diverged",
    tone="other",
    text="FlightAgent calls book with other arguments than recorded: city differs.",
    source_href=links.session_url(KEY, event=1),
    source="#1 to #12 of Flight to London",
    fields=(parts.ReplayField("city", "London", "Oslo"), parts.ReplayField("day", "", "Tuesday")),
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
)
