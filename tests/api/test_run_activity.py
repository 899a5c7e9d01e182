"""What a run waits for, reported over HTTP while it waits: `GET /api/runs/{run}/activity`."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.patience import PATIENCE
from tests.kit.schema_checks import check
from tests.kit.server import running, write_app
from tests.kit.stuck_apps import APPS

HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("activity")
    for name, code in APPS.items():
        write_app(folder / "agents", name, code)
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


@pytest.fixture
def begin(server, client):
    """Starts a run of an app that waits; releases it at the end."""
    begun: list[DebuggedRun] = []

    def start(app: str, **more: Any) -> DebuggedRun:
        (server.agents / app / "go").unlink(missing_ok=True)
        begun.append(DebuggedRun(client, app).start(**{"pause": False, **more}))
        return begun[-1]

    yield start
    for debugged in begun:
        let_go(server, debugged)


def let_go(server, debugged: DebuggedRun) -> str:
    """Release the agent's code; return the status with which its run ends."""
    (server.agents / debugged.app / "go").write_text("go", encoding="utf-8")
    if debugged.settled()["status"] == "held":
        debugged.tell("stop")
    return debugged.position["status"]


def seen(debugged: DebuggedRun, is_so: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Poll what the run waits for until the condition holds."""
    until = time.monotonic() + PATIENCE
    while True:
        activity = debugged.client.get(f"/api/runs/{debugged.run}/activity").json()
        if is_so(activity):
            return activity
        assert time.monotonic() < until, activity


def line_of(server, app: str, text: str) -> int:
    lines = (server.agents / app / "agent.py").read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def own(places: list[dict[str, Any]]) -> list[tuple[str, int, str]]:
    return [(each["file"], each["line"], each["function"]) for each in places if each["own"]]


@pytest.mark.parametrize(
    ("app", "kind", "name", "about", "where"),
    [
        ("thread", "tool", "fetch", '{"url":"https://a.example"}', "# in a thread"),
        ("sleeping", "tool", "look_up", '{"city":"Oslo"}', "# in the tool"),
        ("model", "model", "slow-one", "1 message", "# in the model"),
    ],
)
def test_a_call_under_way_is_reported_with_its_age_and_line(
    server, begin, app, kind, name, about, where
):
    debugged = begin(app)
    line = line_of(server, app, where)

    def stands_there(activity):
        places = [place for task in activity["tasks"] for place in own(task["places"])]
        return any(place[:2] == (f"{app}/agent.py", line) for place in places)

    activity = seen(debugged, stands_there)
    check(activity, {"$ref": "/RunActivity"})
    [call] = activity["calls"]
    assert (call["kind"], call["name"], call["about"]) == (kind, name, about)
    later = seen(debugged, lambda now: now["calls"] and now["calls"][0]["seconds"] > 1)
    assert later["calls"][0]["since"] == call["since"]
    assert let_go(server, debugged) == "done"
    assert seen(debugged, lambda now: True)["calls"] == []


def test_frames_are_reported_with_source_but_without_values(server, begin):
    debugged = begin("sleeping")
    # Between two naps, the tool looks whether its file is there.
    activity = seen(debugged, lambda now: [task["waits"] for task in now["tasks"]] == ["time"])
    [task] = activity["tasks"]
    functions = [place["function"] for place in task["places"]]
    assert functions[0] == "Runs._run"
    assert functions[-3:] == ["look_up", "until_told", "sleep"]
    inside = next(place for place in task["places"] if place["function"] == "look_up")
    assert inside["source"] == "await until_told()  # in the tool"
    assert (task["agent"], task["waits"]) == ("finder", "time")
    keys = {"file", "line", "function", "source", "own"}
    assert all(place.keys() == keys for place in task["places"])


def test_a_plain_function_is_found_in_its_thread(server, begin):
    debugged = begin("thread")
    activity = seen(debugged, lambda now: any(own(task["places"]) for task in now["tasks"]))
    [task] = activity["tasks"]
    line = line_of(server, "thread", "# in a thread")
    assert task["waits"] == "thread"
    assert own(task["places"])[-1][1] in {line - 1, line}


def test_a_tool_that_blocks_the_event_loop_is_reported_with_its_line(server, begin):
    debugged = begin("blocked")
    activity = seen(debugged, lambda now: now["blocked"])
    check(activity, {"$ref": "/RunActivity"})
    blocked = activity["blocked"]
    line = line_of(server, "blocked", "# on the loop")
    assert (blocked["run"], blocked["tool"]) == (debugged.run, "crunch")
    assert own([blocked["place"]])[0] in {
        ("blocked/agent.py", n, "crunch") for n in (line - 1, line)
    }
    page = debugged.client.get(f"/sessions/{debugged.key}").text
    until = time.monotonic() + PATIENCE
    while "The tool crunch is blocking the event loop" not in page:
        assert time.monotonic() < until
        page = debugged.client.get(f"/sessions/{debugged.key}").text
    assert let_go(server, debugged) == "done"


def test_two_tasks_waiting_for_each_others_lock_are_a_deadlock(server, begin):
    debugged = begin("deadlock")
    activity = seen(debugged, lambda now: now["deadlocks"])
    line = line_of(server, "deadlock", "# never")
    check(activity, {"$ref": "/RunActivity"})
    assert activity["deadlocks"] == [[2, 3]]
    whole, *both = activity["tasks"]
    assert (whole["waits"], whole["agent"]) == ("tasks", "locked")
    assert [(task["waits"], task["awaits"]) for task in both] == [("lock", 3), ("lock", 2)]
    assert all(own(task["places"]) == [("deadlock/agent.py", line, "both")] for task in both)
    debugged.post("stop", key="stop")
    assert debugged.settled()["status"] == "stopped"


def test_an_invocation_waits_for_the_answer_to_its_question(begin):
    debugged = begin("asking")
    assert debugged.settled()["status"] == "done"
    activity = seen(debugged, lambda now: True)
    check(activity, {"$ref": "/RunActivity"})
    [question] = activity["questions"]
    assert (question["agent"], question["asks"]) == ("cashier", "asks for confirmation")
    assert question["for"] == {"kind": "tool", "name": "refund"}
    part = {"id": question["call"], "name": question["name"], "response": {"confirmed": True}}
    message = {"role": "user", "parts": [{"functionResponse": part}]}
    debugged.start(message, pause=False)
    assert debugged.settled()["status"] == "done"
    assert seen(debugged, lambda now: True)["questions"] == []


def stances(activity: dict[str, Any]) -> dict[str, str]:
    return {each["agent"]: each["status"] for each in activity["branches"]}


def hold_of(debugged: DebuggedRun, agent: str) -> int:
    return next(hold["id"] for hold in debugged.position["holds"] if hold["agent"] == agent)


def held_at_the_slow_tool(begin) -> tuple[DebuggedRun, int]:
    """A run whose three branches are held, and its position when only the first was."""
    while True:
        debugged = begin("branches", pause=True)
        debugged.settled()
        debugged.tell("run_to", like={"gate": "before_tool", "tool": "slow"})
        assert stances(debugged.position)["right"] == "held"
        at_first = debugged.position["position"]
        seen(debugged, lambda now: "running" not in stances(now).values())
        # On a busy machine another branch may have ended before.
        if len(debugged.settled()["holds"]) == 3:
            return debugged, at_first


def test_continuing_one_branch_leaves_the_others_held(server, begin):
    debugged, at_first = held_at_the_slow_tool(begin)
    others = {hold["id"] for hold in debugged.position["holds"] if hold["agent"] != "right"}
    debugged.position["position"] = at_first  # branches held since then don't make it outdated
    debugged.tell("continue", hold=hold_of(debugged, "right"))
    assert {hold["id"] for hold in debugged.position["holds"]} == others
    running = seen(debugged, lambda now: stances(now).get("right") == "running" and now["calls"])
    right = next(each for each in running["branches"] if each["agent"] == "right")
    assert (right["status"], right["branch"]) == ("running", "search.right")
    assert (right["doing"], right["since"]) == ("slow", running["calls"][0]["since"])
    position = debugged.settled()
    check(position, {"$ref": "/Position"})
    assert stances(position) == stances(running)
    debugged.tell("continue", wait=False)
    assert let_go(server, debugged) == "done"


def test_a_tool_call_runs_while_a_parallel_one_is_held(server, begin):
    debugged = begin("tools", pause=True)
    debugged.settled()
    debugged.tell("run_to", like={"gate": "before_tool", "tool": "quick"})
    activity = seen(debugged, lambda now: len(now["branches"]) == 2)
    assert {each["doing"]: each["status"] for each in activity["branches"]} == {
        "quick": "held",
        "slow": "running",
    }
    debugged.tell("continue", wait=False)
    assert let_go(server, debugged) == "done"


def test_the_tab_shows_the_run_of_the_selected_event(server, client, begin):
    debugged = begin("sleeping")
    let_go(server, debugged)
    first, last = debugged.run, len(debugged.kept()["events"])
    title = f"Run of #1 to #{last}: done"

    def tab(query: str) -> str:
        return client.get(f"/sessions/{debugged.key}{query}", headers=HTML).text

    assert "Latest run: done" in tab("?tab=run&event=1")
    debugged.start()
    debugged.settled()
    now, then = tab("?tab=run"), tab("?tab=run&event=1")
    assert "What the run is doing" in now
    assert "paused by the debugger" in now
    assert "waiting for its event to be committed" not in now
    assert title in then
    assert "Another run is in progress" in then
    assert title in tab(f"?tab=run&at={last}")
    assert title in tab("/activity?event=1")
    debugged.tell("continue")
    debugged.settled()
    then = tab("?tab=run&event=1")
    assert title in then
    assert "Another run" not in then
    assert f'<option value="{first}" selected>' in then
    assert f"/sessions/{debugged.key}?at=1&amp;tab=run" in then
    assert "Latest run: done" in tab("?tab=run")
