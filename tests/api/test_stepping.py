"""Holding a run at a gate and stepping it, through the API with a real worker."""

import threading
import uuid

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running, write_app

COUNT = """
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event, EventActions


class Count(BaseAgent):
    async def _run_async_impl(self, ctx):
        for n in (1, 2, 3):
            yield Event(author=self.name, actions=EventActions(state_delta={"n": n}))
            print("saw", ctx.session.state["n"])


root_agent = Count(name="count")
"""
WEATHER = """
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


def weather(city: str, tool_context) -> str:
    if not city:
        raise ValueError("which city?")
    tool_context.state["city"] = city
    return f"sunny in {city}"


script = [
    Rule(after="weather", then=Say("It is {result}.", chunks=3)),
    Rule(then=Call("weather", city="Oslo")),
]
root_agent = Agent(
    name="forecaster", model=ScriptedLlm(model="scripted", rules=script), tools=[weather]
)
"""
ENDLESS = """
import asyncio
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event, EventActions


class Endless(BaseAgent):
    async def _run_async_impl(self, ctx):
        while True:
            yield Event(author=self.name, actions=EventActions(state_delta={"on": True}))
            await asyncio.sleep(0.02)


root_agent = Endless(name="endless")
"""
BOTH = """
import asyncio
from devui.runtime.agents import Agent, BaseAgent, ParallelAgent
from devui.runtime.events import Event
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


def look(where: str) -> str:
    print("looking", where)
    return where


def searcher(name):
    script = [Rule(after="look", then=Say(name)), Rule(then=Call("look", where=name))]
    return Agent(name=name, model=ScriptedLlm(rules=script), tools=[look])


root_agent = ParallelAgent(name="both", sub_agents=[searcher("left"), searcher("right")])
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stepping")
    apps = {"count": COUNT, "weather": WEATHER, "both": BOTH, "endless": ENDLESS}
    for name, code in apps.items():
        write_app(folder / "agents", name, code)
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def log_of(debugged: DebuggedRun) -> str:
    return debugged.client.get(f"/runs/{debugged.run}/log").text


def test_a_run_started_paused_is_held_before_its_message_is_committed(client):
    debugged = DebuggedRun(client, "count").start("hello")
    assert debugged.settled()["status"] == "held"
    hold = debugged.hold()
    assert (hold["gate"], hold["agent"], hold["kind"], hold["reason"]) == (
        "before_commit",
        "user",
        "user",
        "pause",
    )
    assert hold["held"]["content"]["parts"] == [{"text": "hello"}]
    assert debugged.kept()["events"] == []
    assert debugged.tell("continue")["status"] == "done"
    assert len(debugged.kept()["events"]) == 4


def test_step_event_stops_after_each_commit(client):
    debugged = DebuggedRun(client, "count").start()
    debugged.settled()
    for number in (1, 2, 3, 4):
        debugged.tell("step_event")
        hold = debugged.hold()
        assert (hold["gate"], hold["number"]) == ("after_commit", number)
        assert len(debugged.kept()["events"]) == number
        assert f"saw {number - 1}" not in log_of(debugged)
    assert debugged.tell("step_event")["status"] == "done"


@pytest.mark.req("R32")
def test_the_log_records_who_did_what(client):
    debugged = DebuggedRun(client, "count").start(actor="Ada")
    debugged.settled()
    debugged.tell("step_event", actor="Bob", key="once")
    debugged.post("step_event", actor="Bob", key="once", position=1)
    debugged.tell("continue")
    entries = [line.split(maxsplit=2)[1:] for line in log_of(debugged).splitlines()]
    assert [text for stream, text in entries if stream == "debugger"] == [
        "started by Ada, held from the first",
        "Step by Bob",
        "Continue by api",
    ]


def test_a_stop_from_a_page_is_logged_with_its_tab(client):
    debugged = DebuggedRun(client, "endless").start(pause=False)
    form = {"actor": "amber tab"}
    client.post(f"/runs/{debugged.run}/stop", data=form, headers={"HX-Request": "true"})
    assert debugged.settled()["status"] == "stopped"
    assert "Stop by amber tab" in log_of(debugged)


def test_step_half_stops_before_and_after_each_commit(client):
    debugged = DebuggedRun(client, "count").start()
    debugged.settled()
    assert debugged.gates("step_half", "step_half", "step_half") == [
        ("after_commit", "user"),
        ("before_commit", "count"),
        ("after_commit", "count"),
    ]
    debugged.tell("step_half")
    assert debugged.hold()["changes"] == [{"key": "n", "old": 1, "new": 2}]
    assert debugged.kept()["state"] == {"n": 1}
    debugged.tell("continue")
    assert debugged.kept()["state"] == {"n": 3}


def test_step_into_stops_at_every_gate_of_an_agent_with_a_tool(client):
    debugged = DebuggedRun(client, "weather").start()
    debugged.settled()
    seen = []
    while debugged.tell("step_into")["status"] == "held":
        hold = debugged.hold()
        seen.append((hold["gate"], hold["kind"] or hold["tool"]))
    assert seen == [
        ("after_commit", "user"),
        ("enter_agent", None),
        ("before_model", None),
        ("after_model", None),
        ("before_commit", "call"),
        ("after_commit", "call"),
        ("before_tool", "weather"),
        ("after_tool", "weather"),
        ("before_commit", "result"),
        ("after_commit", "result"),
        ("before_model", None),
        ("after_model", None),
        ("before_commit", "text"),
        ("after_commit", "text"),
        ("leave_agent", None),
    ]
    assert debugged.texts() == ["go", "It is sunny in Oslo."]


def test_holds_have_the_whole_request_call_or_event(client):
    debugged = DebuggedRun(client, "weather").start()
    debugged.settled()
    by_gate = {}
    while debugged.tell("step_into")["status"] == "held":
        hold = debugged.hold()
        by_gate.setdefault(hold["gate"], hold["held"])
        assert hold["path"] == ["forecaster"]
    assert by_gate["before_model"]["contents"][0]["parts"] == [{"text": "go"}]
    declared = by_gate["before_model"]["config"]["tools"][0]["functionDeclarations"]
    assert declared[0]["name"] == "weather"
    assert "functionCall" in by_gate["after_model"]["content"]["parts"][0]
    assert by_gate["before_tool"] == {"name": "weather", "args": {"city": "Oslo"}}
    assert by_gate["after_tool"]["result"] == "sunny in Oslo"
    assert by_gate["enter_agent"] == {"name": "forecaster", "type": "LlmAgent"}


def test_step_out_finishes_the_tool_call_and_then_the_agent(client):
    debugged = DebuggedRun(client, "weather").start()
    debugged.settled()
    while debugged.tell("step_into")["holds"][0]["gate"] != "before_tool":
        pass
    assert debugged.gates("step_out", "step_out") == [
        ("after_tool", "forecaster"),
        ("leave_agent", "forecaster"),
    ]
    assert debugged.tell("step_out")["status"] == "done"


def test_run_to_stops_at_the_next_matching_gate(client):
    debugged = DebuggedRun(client, "weather").start()
    debugged.settled()
    debugged.tell("run_to", like={"kind": "result", "tool": "weather"})
    assert (debugged.hold()["gate"], debugged.hold()["kind"]) == ("before_commit", "result")
    assert debugged.hold()["changes"] == [{"key": "city", "new": "Oslo"}]
    debugged.tell("run_to", like={"gate": "before_model"})
    assert debugged.hold()["gate"] == "before_model"
    assert debugged.tell("run_to", like={"tool": "none"})["status"] == "done"


def test_parallel_branches_each_stop_at_their_next_gate(client):
    debugged = DebuggedRun(client, "both").start()
    debugged.settled()
    debugged.tell("run_to", like={"gate": "before_tool"})
    while len(debugged.position["holds"]) < 2:
        query = {"after": debugged.position["position"]}
        debugged.position = client.get(f"/api/runs/{debugged.run}", params=query).json()
    first, second = debugged.position["holds"]
    assert {first["reason"], second["reason"]} == {"step", "behind"}


def test_a_double_click_steps_once(client):
    debugged = DebuggedRun(client, "count").start()
    position = debugged.settled()["position"]
    answers = [debugged.post("step_event", key="one", position=position) for _ in range(3)]
    assert [each.status_code for each in answers] == [200, 200, 200]
    assert len({each.text for each in answers}) == 1
    assert debugged.settled()["holds"][0]["number"] == 1
    assert debugged.post("step_event", key="one", position=position).text == answers[0].text
    assert debugged.settled()["holds"][0]["number"] == 1
    other = debugged.post("continue", key="one", position=position)
    assert other.status_code == 422


def test_repeating_a_command_after_its_run_returns_the_same_answer(client):
    debugged = DebuggedRun(client, "count").start()
    position = debugged.settled()["position"]
    first = debugged.post("continue", key="last", position=position)
    assert (first.status_code, debugged.settled()["status"]) == (200, "done")
    again = debugged.post("continue", key="last", position=position)
    assert (again.status_code, again.text) == (200, first.text)
    assert debugged.post("stop", key="last").json()["position"] == debugged.position
    assert debugged.post("stop", key="another").status_code == 409


def test_a_command_for_a_past_position_is_refused_with_the_present_one(client):
    debugged = DebuggedRun(client, "count").start()
    old = debugged.settled()["position"]
    debugged.tell("step_event", actor="the other tab")
    refused = debugged.post("continue", key=uuid.uuid4().hex, position=old)
    assert refused.status_code == 409
    assert refused.json()["position"] == debugged.position
    assert "the other tab chose 'Step'" in refused.json()["detail"]
    assert debugged.settled()["status"] == "held"


def test_continue_cancels_a_step_even_if_it_has_just_been_reached(client):
    debugged = DebuggedRun(client, "count").start()
    assert debugged.settled()["position"] == 1
    position = debugged.tell("step_event", wait=False)["position"]
    met = debugged.settled()
    assert met["position"] == position + 1
    step = debugged.post("step_event", key=uuid.uuid4().hex, position=position)
    assert (step.status_code, step.json()["position"]) == (409, met)
    debugged.position = {**met, "position": position}
    assert debugged.tell("continue")["status"] == "done"


@pytest.mark.req("R32")
def test_two_clients_at_once_step_once(client, server):
    debugged = DebuggedRun(client, "count").start()
    position = debugged.settled()["position"]
    barrier, codes = threading.Barrier(2), []

    def press() -> None:
        with server.client() as own:
            barrier.wait()
            body = {"command": "step_event", "key": uuid.uuid4().hex, "position": position}
            codes.append(own.post(f"/api/runs/{debugged.run}/commands", json=body).status_code)

    threads = [threading.Thread(target=press) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == [200, 409]
    assert debugged.settled()["holds"][0]["number"] == 1


def test_pause_holds_a_run_at_its_next_event(client):
    debugged = DebuggedRun(client, "endless").start(pause=False)
    debugged.tell("pause", position=None)
    assert (debugged.hold()["gate"], debugged.hold()["reason"]) == ("before_commit", "pause")
    count = len(debugged.kept()["events"])
    debugged.tell("step_event")
    assert len(debugged.kept()["events"]) == count + 1
    debugged.tell("continue", wait=False)
    assert debugged.tell("stop", position=None)["status"] == "stopped"


def test_stopping_a_held_run_does_not_commit_what_is_held(client):
    debugged = DebuggedRun(client, "count").start()
    debugged.settled()
    debugged.tell("step_half")
    debugged.tell("step_half")
    assert debugged.hold()["gate"] == "before_commit"
    assert debugged.tell("stop")["status"] == "stopped"
    assert len(debugged.kept()["events"]) == 1
    after = debugged.post("continue", key="late", position=1)
    assert after.status_code == 409
    assert after.json()["detail"] == "the run is over"


def test_stop_after_event_commits_what_is_held_and_stops(client):
    debugged = DebuggedRun(client, "count").start()
    debugged.settled()
    debugged.tell("step_event")
    debugged.tell("step_half")
    assert debugged.tell("stop_after_event")["status"] == "stopped"
    assert debugged.kept()["state"] == {"n": 1}
    assert "saw 1" not in log_of(debugged)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"command": "fly", "key": "k"}, 422),
        ({"command": "continue"}, 422),
        ({"command": "continue", "key": "k"}, 422),
        ({"command": "step_event", "key": "k", "position": 99}, 409),
        ({"command": "step_event", "key": "k", "position": 1, "hold": 99}, 422),
        ({"command": "run_to", "key": "k", "position": 1}, 422),
        ({"command": "continue", "key": "k", "position": 1, "color": "red"}, 422),
    ],
)
def test_an_invalid_command_is_refused_and_changes_nothing(client, body, status):
    debugged = DebuggedRun(client, "count").start()
    before = debugged.settled()
    answer = client.post(f"/api/runs/{debugged.run}/commands", json=body)
    assert answer.status_code == status, answer.text
    assert debugged.settled() == before
    debugged.tell("stop")


def test_an_unknown_run_is_not_found(client):
    assert client.get("/api/runs/none").status_code == 404
    body = {"command": "pause", "key": "k"}
    assert client.post("/api/runs/none/commands", json=body).status_code == 404
