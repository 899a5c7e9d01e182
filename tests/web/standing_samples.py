"""What holds a run up as the session page shows it, for the gallery and the template tests."""

from devui.web import links
from devui.web.parts import every as parts
from devui.web.text.formats import moment
from tests.web import replay_samples
from tests.web.travel_samples import KEY, NOW

SINCE = moment(NOW)
FRAMES = (
    parts.Frames(False, (("asyncio/locks.py:114", "Lock.acquire", "await fut"),)),
    parts.Frames(True, (("travel/agent.py:26", "both", "async with second:"),)),
)
PANEL = parts.RunPanel(
    href=links.standing_url(KEY),
    title="The run is running",
    going=True,
    silent=SINCE,
    whys=(
        parts.Why("bad", "The tool crunch blocks the loop.", "agent.py:2 in f", "time.sleep(9)"),
        parts.Why("warn", "Waits for a person.", href="/sessions/1?event=3", label="#3"),
    ),
    action="/runs/run-1/commands",
    key="k4",
    stop_href=links.stop_url("run-1"),
    break_action=links.breakpoints_url(KEY),
    calls=(
        parts.PendingCall(
            id=3,
            kind="call",
            name="find_flights",
            about='{"to": "LHR"}',
            who="FlightAgent",
            since=SINCE,
            place="travel/agent.py:8 in find_flights",
            source="await site.ask()",
            draft='{"on": "tool"}',
            ending=parts.CallEnding(
                action=links.calls_url("run-1"),
                key="k5",
                call=3,
                name="find_flights",
                slot="answer-3",
                typed_slot="typed-3",
                typed=parts.AskField("value", "Answer in place of find_flights", "json"),
                fields=(parts.AskField("of.price", "price", "number", error="it has to be there"),),
            ),
            note="A plain function in a thread cannot be stopped.",
        ),
    ),
    beside=(
        parts.Beside("held", "held", "left", "quick", "", SINCE),
        parts.Beside("behind", "waits its turn to commit", "task 4", "", "agent.py:9 in f", None),
    ),
    tasks=(
        parts.TaskShown(2, "FlightAgent", "waits for a lock that task 3 has", FRAMES, circle=True),
        parts.TaskShown(3, "", "sleeps", FRAMES[:1], circle=False),
    ),
)
EMPTY = parts.RunPanel(
    links.standing_url(KEY), "There was no run yet", going=False, replay=replay_samples.FORM
)
ALL = (PANEL, EMPTY, parts.TabAsk("standing", links.standing_url(KEY)))
