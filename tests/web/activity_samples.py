"""What a run waits for, as the session page shows it, for the gallery and the template tests."""

from devui.web import links
from devui.web.basic_parts import BranchItem
from devui.web.panels.inspector.parts import TabAsk
from devui.web.panels.questions.parts import QuestionField
from devui.web.panels.runs.parts import (
    CallEnding,
    Frames,
    PendingCall,
    RunPanel,
    TaskItem,
    WaitReason,
)
from devui.web.text.formats import moment
from tests.web import replay_samples
from tests.web.travel_samples import KEY, NOW

SINCE = moment(NOW)
FRAMES = (
    Frames(False, (("asyncio/locks.py:114", "Lock.acquire", "await fut"),)),
    Frames(True, (("travel/agent.py:26", "both", "async with second:"),)),
)
PANEL = RunPanel(
    href=links.activity_url(KEY),
    title="The run is running",
    settings="temperature 0.2, append to system instruction: Be brief.",
    going=True,
    silent=SINCE,
    whys=(
        WaitReason(
            "bad", "The tool crunch is blocking the event loop.", "agent.py:2 in f", "time.sleep(9)"
        ),
        WaitReason("warn", "Waiting for a person.", href="/sessions/1?event=3", label="#3"),
    ),
    action="/runs/run-1/commands",
    key="k4",
    break_action=links.breakpoints_url(KEY),
    calls=(
        PendingCall(
            id=3,
            kind="call",
            name="find_flights",
            about='{"to": "LHR"}',
            who="FlightAgent",
            since=SINCE,
            place="travel/agent.py:8 in find_flights",
            source="await site.ask()",
            draft='{"on": "tool"}',
            ending=CallEnding(
                action=links.calls_url("run-1"),
                key="k5",
                call=3,
                name="find_flights",
                slot="answer-3",
                typed_slot="typed-3",
                typed_field=QuestionField("value", "Answer for find_flights", "json"),
                fields=(QuestionField("of.price", "price", "number", error="required"),),
            ),
            note="A function in a thread can't be stopped.",
        ),
    ),
    beside=(
        BranchItem("held", "held", "left", "quick", "", SINCE),
        BranchItem("behind", "waiting to commit", "task 4", "", "agent.py:9 in f", None),
    ),
    tasks=(
        TaskItem(2, "FlightAgent", "waiting for a lock held by task 3", FRAMES, circle=True),
        TaskItem(3, "", "sleeps", FRAMES[:1], circle=False),
    ),
)
EMPTY = RunPanel(links.activity_url(KEY), "No runs yet", going=False, replay=replay_samples.FORM)
ALL = (PANEL, EMPTY, TabAsk("activity", links.activity_url(KEY)))
