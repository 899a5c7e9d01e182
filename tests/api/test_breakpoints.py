"""Breakpoints through the API, with a real worker, a real journal and a session's past events."""

import re

import pytest

from tests.api.test_stepping import COUNT, WEATHER
from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import make_session, run, running, write_app

TEAM = """
from devui.runtime.agents import Agent, BaseAgent, SequentialAgent
from devui.runtime.events import Event, EventActions
from devui.runtime.models import Call, Fail, Rule, Say, ScriptedLlm
from google.genai import types


class Saver(BaseAgent):
    async def _run_async_impl(self, ctx):
        part = types.Part(text="plan")
        version = await ctx.artifact_service.save_artifact(
            app_name=ctx.app_name, user_id=ctx.user_id, session_id=ctx.session.id,
            filename="plan.txt", artifact=part,
        )
        yield Event(author=self.name, actions=EventActions(artifact_delta={"plan.txt": version}))
        yield Event(author=self.name, actions=EventActions(escalate=True))


def look() -> str:
    return "seen"


def looker():
    script = [
        Rule(user="fail", then=Fail("OUT_OF_LUCK", "no luck")),
        Rule(after="look", calls=2, then=Say("enough")),
        Rule(then=Call("look")),
    ]
    return Agent(name="looker", model=ScriptedLlm(rules=script), tools=[look])


root_agent = SequentialAgent(name="team", sub_agents=[Saver(name="saver"), looker()])
"""
KEPT = (
    WEATHER
    + """
from devui.runtime.apps import App, ResumabilityConfig
app = App(
    name="kept",
    root_agent=root_agent,
    resumability_config=ResumabilityConfig(is_resumable=True),
)
"""
)
ASKS = """
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, ScriptedLlm
from devui.runtime.tools import FunctionTool


def pay(amount: int) -> str:
    return "paid"


root_agent = Agent(
    name="payer",
    model=ScriptedLlm(rules=[Rule(then=Call("pay", amount=5))]),
    tools=[FunctionTool(pay, require_confirmation=True)],
)
"""
APPS = {"asks": ASKS, "count": COUNT, "weather": WEATHER, "kept": KEPT, "team": TEAM}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("breakpoints")
    for name, code in APPS.items():
        write_app(folder / "agents", name, code)
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        for app in APPS:
            for each in client.get(f"/api/apps/{app}/breakpoints").json()["breakpoints"]:
                client.delete(f"/api/apps/{app}/breakpoints/{each['id']}")
        yield client


def add(client, app, **body):
    answer = client.post(f"/api/apps/{app}/breakpoints", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def hits_of(client, app, number):
    every = client.get(f"/api/apps/{app}/breakpoints").json()["breakpoints"]
    return next(each["hits"] for each in every if each["id"] == number)


def stops(client, app, message="go", **body):
    """Where one such breakpoint stops a run, and the numbers of the session's past hits."""
    point = add(client, app, **body)
    debugged = DebuggedRun(client, app).start(message, pause=False)
    places = []
    while debugged.settled()["status"] == "held":
        hold = debugged.hold()
        assert (hold["reason"], hold["breakpoint"]) == ("breakpoint", point["id"])
        places.append((hold["gate"], hold["agent"], hold["tool"] or hold["text"]))
        debugged.tell("continue")
    assert hits_of(client, app, point["id"]) == len(places)
    past = client.get(f"/api/sessions/{debugged.key}/hits", params={"breakpoint": point["id"]})
    return places, [hit["number"] for hit in past.json()["hits"]]


@pytest.mark.parametrize(
    ("app", "body", "live", "past"),
    [
        (
            "count",
            {"on": "state", "name": "n", "condition": "new > old"},
            ["n = 2", "n = 3"],
            [3, 4],
        ),
        ("count", {"on": "state", "name": "m*"}, [], []),
        ("count", {"on": "event", "name": "user"}, ["go"], [1]),
        ("count", {"on": "event", "name": "state", "hit": "== 2"}, ["n = 2"], [3]),
        ("count", {"on": "event", "agent": "cou*", "hit": "% 3"}, ["n = 3"], [4]),
        ("count", {"on": "budget", "condition": "run.events >= 3"}, ["n = 2"], [3]),
        ("weather", {"on": "tool", "name": "wea*"}, ["weather"], [2]),
        ("weather", {"on": "tool", "condition": "args.city == 'Bern'"}, [], []),
        (
            "weather",
            {"on": "tool", "when": "after", "condition": "'Oslo' in result"},
            ["weather"],
            None,
        ),
        ("weather", {"on": "final"}, ["It is sunny in Oslo."], [4]),
        ("kept", {"on": "final"}, ["It is sunny in Oslo."], [4]),
        (
            "weather",
            {"on": "final", "condition": "state.city == 'Oslo'"},
            ["It is sunny in Oslo."],
            [4],
        ),
        ("weather", {"on": "event", "condition": "tool == 'weather' and kind == 'call'"}, 1, [2]),
        ("team", {"on": "artifact", "name": "*.txt"}, ["saved plan.txt v0"], [2]),
        ("team", {"on": "escalate"}, ["leaves the loop"], [3]),
        ("team", {"on": "agent", "name": "looker"}, [None], [4]),
        ("team", {"on": "agent", "name": "looker", "when": "after"}, [None], []),
        ("team", {"on": "model", "hit": ">= 2"}, [None, None], [6, 8]),
        ("team", {"on": "budget", "condition": "run.repeats >= 2"}, ["look()"], [6]),
        ("team", {"on": "budget", "condition": "run.calls == 2"}, ["look()"], [6]),
        ("team", {"on": "transfer"}, [], []),
        ("team", {"on": "human"}, [], []),
        ("asks", {"on": "human"}, ["asks for confirmation: pay(amount=5)"], [3]),
    ],
)
def test_a_breakpoint_stops_runs_and_finds_the_same_hits_in_the_past(client, app, body, live, past):
    places, before = stops(client, app, **body)
    if isinstance(live, int):
        assert len(places) == live
    else:
        assert [text for _, _, text in places] == live
    if past is not None:
        assert before == past


def test_a_breakpoint_stops_at_an_error(client):
    places, past = stops(client, "team", "fail", on="error", name="OUT*")
    assert [agent for _, agent, _ in places] == ["looker"]
    assert past == [4]


def test_a_breakpoint_after_the_commit_stops_after_it(client):
    places, _ = stops(client, "count", on="state", when="after", condition="new == 2")
    assert places == [("after_commit", "count", "n = 2")]


def test_a_logpoint_logs_its_line_and_never_stops(client):
    point = add(client, "count", on="state", name="n", log="{key} went from {old} to {new}: {text}")
    debugged = DebuggedRun(client, "count").start(pause=False)
    assert debugged.settled()["status"] == "done"
    log = client.get(f"/runs/{debugged.run}/log").text
    assert re.findall(r"logpoint (.*)", log) == [
        "n went from null to 1: n = 1",
        "n went from 1 to 2: n = 2",
        "n went from 2 to 3: n = 3",
    ]
    past = client.get(f"/api/sessions/{debugged.key}/hits", params={"breakpoint": point["id"]})
    assert past.json()["hits"][2]["text"] == "n went from 2 to 3: n = 3"


def test_a_draft_breakpoint_finds_past_next_and_previous_hits(client):
    session = DebuggedRun(client, "count")
    for _ in range(2):
        run(client, "count", session.session, "go")

    def hits(**more):
        body = {"on": "state", "name": "n", "condition": "new != 2", **more}
        answer = client.post(f"/api/sessions/{session.key}/hits", json=body).json()
        assert (answer["scanned"], answer["hasMore"]) == (8, False)
        return [hit["number"] for hit in answer["hits"]]

    assert hits() == [2, 4, 6, 8]
    assert hits(after=2, limit=1) == [4]
    assert hits(before=6, limit=1) == [4]
    assert hits(before=7) == [2, 4, 6]
    assert hits(hit="== 1") == [2, 6]
    assert client.get("/api/apps/count/breakpoints").json()["breakpoints"] == []


def test_a_breakpoint_added_while_a_run_is_held_applies_to_it(client):
    debugged = DebuggedRun(client, "weather").start()
    debugged.settled()
    add(client, "weather", on="tool", when="after")
    debugged.tell("continue")
    assert (debugged.hold()["gate"], debugged.hold()["held"]["result"]) == (
        "after_tool",
        "sunny in Oslo",
    )
    assert debugged.tell("continue")["status"] == "done"


def test_a_disabled_breakpoint_or_one_of_another_app_does_nothing(client):
    point = add(client, "count", on="event")
    other = f"/api/apps/count/breakpoints/{point['id']}"
    assert client.patch(other, json={"version": 1, "enabled": False}).json()["enabled"] is False
    add(client, "weather", on="event")
    assert DebuggedRun(client, "count").start(pause=False).settled()["status"] == "done"


def test_changing_an_outdated_version_of_a_breakpoint_is_refused(client):
    point = add(client, "count", on="state", name="n")
    path = f"/api/apps/count/breakpoints/{point['id']}"
    changed = client.patch(path, json={"version": 1, "condition": "new == 3"}).json()
    assert (changed["version"], changed["name"], changed["condition"]) == (2, "n", "new == 3")
    late = client.patch(path, json={"version": 1, "name": "m"})
    assert late.status_code == 409
    assert "has version 2" in late.json()["detail"]
    assert client.get("/api/apps/count/breakpoints").json()["breakpoints"] == [changed]
    assert client.delete(path).json() == {"deleted": True}
    assert client.delete(path).json() == {"deleted": False}
    assert client.patch(path, json={"version": 2}).status_code == 404


@pytest.mark.parametrize(
    ("body", "field", "at"),
    [
        ({"on": "state", "condition": "new >"}, "condition", 5),
        ({"on": "event", "log": "is {kin}"}, "log", 4),
        ({"on": "event", "log": "is {kind"}, "log", 3),
        ({"on": "event", "name": "cal"}, "name", None),
        ({"on": "budget", "condition": "run.call > 1"}, "condition", 4),
        ({"on": "event", "hit": "3"}, "hit", None),
        ({"on": "event", "hit": "== 0"}, "hit", None),
        ({"on": "budget"}, "condition", None),
        ({"on": "nothing"}, "on", None),
        ({"on": "event", "color": "red"}, "color", None),
    ],
)
def test_an_invalid_breakpoint_is_refused_with_the_position(client, body, field, at):
    for path in (
        "/api/apps/count/breakpoints",
        f"/api/sessions/{DebuggedRun(client, 'count').key}/hits",
    ):
        answer = client.post(path, json=body)
        assert answer.status_code == 422, answer.text
        [error] = answer.json()["detail"]
        assert error["loc"] == ["body", field, *([] if at is None else [at])]
        assert at is None or f"column {at + 1}: " in error["msg"]
    assert client.get("/api/apps/count/breakpoints").json()["breakpoints"] == []


def test_breakpoints_of_an_unknown_app_are_not_found(client):
    assert client.get("/api/apps/none/breakpoints").status_code == 404
    assert client.post("/api/apps/none/breakpoints", json={"on": "event"}).status_code == 404


def test_breakpoints_survive_a_kill_of_the_server(tmp_path):
    write_app(tmp_path / "agents", "count", COUNT)
    with running(tmp_path / "agents", tmp_path / "data") as server:
        with server.client() as client:
            point = add(client, "count", on="state", condition="new == 2")
        server.kill()
        server.start()
        with server.client() as client:
            assert client.get("/api/apps/count/breakpoints").json()["breakpoints"] == [point]
            debugged = DebuggedRun(client, "count").start(pause=False)
            assert debugged.settled()["holds"][0]["breakpoint"] == point["id"]
            make_session(client, "count")


def test_a_breakpoint_disabled_by_one_user_still_stops_the_others(client):
    point = add(client, "count", on="event", name="state", hit="== 1")
    path = f"/api/apps/count/breakpoints/{point['id']}"
    off = client.patch(path, json={"version": 1, "enabled": False, "user": "u"}).json()
    assert (off["enabled"], off["users"], off["version"]) == (True, {"u": False}, 1)
    mine = DebuggedRun(client, "count").start(pause=False)
    assert mine.settled()["status"] == "done"
    theirs = DebuggedRun(client, "count", user="ada").start(pause=False)
    assert theirs.settled()["status"] == "held"
    assert theirs.tell("continue")["status"] == "done"
    everybody = client.patch(path, json={"version": 1, "enabled": False}).json()
    assert (everybody["enabled"], everybody["version"]) == (False, 2)
    client.patch(path, json={"version": 2, "enabled": True, "user": "u"})
    assert DebuggedRun(client, "count").start(pause=False).settled()["status"] == "held"
    assert client.patch(path, json={"version": 1, "enabled": True, "user": "u"}).status_code == 409
    both = {"version": 2, "enabled": True, "user": "u", "on": "tool"}
    assert client.patch(path, json=both).status_code == 400


def test_personal_switches_survive_a_restart(tmp_path):
    write_app(tmp_path / "agents", "count", COUNT)
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        point = add(client, "count", on="event")
        path = f"/api/apps/count/breakpoints/{point['id']}"
        client.patch(path, json={"version": 1, "enabled": False, "user": "u"})
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        [after] = client.get("/api/apps/count/breakpoints").json()["breakpoints"]
        assert (after["enabled"], after["users"]) == (True, {"u": False})
        assert DebuggedRun(client, "count").start(pause=False).settled()["status"] == "done"
