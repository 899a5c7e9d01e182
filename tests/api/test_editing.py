"""Edits of what is held: events, requests, responses, arguments and results."""

import copy
import html
import json
import re

import pytest

from tests.api.test_stepping import COUNT, WEATHER
from tests.kit.debugged_run import DebuggedRun
from tests.kit.patience import wait_until
from tests.kit.server import running, write_app

WRITES = """
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event, EventActions


class Writes(BaseAgent):
    async def _run_async_impl(self, ctx):
        ctx.session.state["a"] = "dirty"
        delta = {"a": "dirty", "b": 1}
        yield Event(author=self.name, actions=EventActions(state_delta=delta))
        print("saw", ctx.session.state.get("a"), ctx.session.state.get("b"))


root_agent = Writes(name="writes")
"""


NESTED = (
    WEATHER.replace("root_agent = ", "inner = ")
    + """
from devui.runtime.tools.agent_tool import AgentTool

asks = Call("forecaster", request="Oslo?")
script = [Rule(after="forecaster", calls=2, then=Say("I hear: {result}")), Rule(then=asks)]
model = ScriptedLlm(model="boss", rules=script)
root_agent = Agent(name="boss", model=model, tools=[AgentTool(inner)])
"""
)


BLOCKS = """
import time
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


async def block(seconds: int) -> str:
    time.sleep(seconds)
    return "awake"


script = [Rule(after="block", then=Say("done")), Rule(then=Call("block", seconds=7))]
root_agent = Agent(name="blocker", model=ScriptedLlm(rules=script), tools=[block])
"""


APPS = {"blocks": BLOCKS, "count": COUNT, "weather": WEATHER, "writes": WRITES, "nested": NESTED}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("editing")
    for name, code in APPS.items():
        write_app(folder / "agents", name, code)
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def is_replayed(debugged: DebuggedRun) -> None:
    """Check that a replay, and a replay of it, give the same events and state without edits."""
    client, before = debugged.client, (debugged.texts(), debugged.kept()["state"])
    for _ in range(2):
        replay = client.post(f"/api/sessions/{debugged.key}/replays", json={}).json()
        debugged = copy.copy(debugged)
        debugged.run, debugged.key = replay["run"], replay["session"]
        debugged.settled()
        verdict = client.get(f"/api/runs/{debugged.run}/replay").json()["verdict"]
        assert (verdict["divergence"], verdict["identical"], verdict["notes"]) == (None, True, [])
        rows = client.get("/api/sessions", params={"app": debugged.app}).json()["sessions"]
        debugged.session = next(row["id"] for row in rows if row["key"] == debugged.key)
        assert (debugged.texts(), debugged.kept()["state"]) == before


def at(client, app: str, gate: str, agent: str | None = None, **session) -> DebuggedRun:
    """A run held at its first arrival at this gate."""
    debugged = DebuggedRun(client, app, **session).start()
    debugged.settled()
    debugged.tell("run_to", like={"gate": gate, "agent": agent})
    assert debugged.hold()["gate"] == gate
    return debugged


def edits_of(debugged: DebuggedRun) -> list[dict]:
    return debugged.client.get(f"/api/sessions/{debugged.key}/edits").json()["edits"]


def log_of(debugged: DebuggedRun) -> str:
    return debugged.client.get(f"/runs/{debugged.run}/log").text


def marks(event: dict) -> list[dict]:
    return event.get("customMetadata", {}).get("devui_edited", [])


@pytest.mark.req("R32")
def test_an_edited_event_is_stored_and_seen_by_the_agent(client):
    debugged = at(client, "count", "before_commit", "count")
    original = debugged.hold()["held"]
    replacement = copy.deepcopy(original)
    replacement["actions"]["stateDelta"] = {"n": 100}
    debugged.tell("edit", value=replacement, actor="Ada")
    assert debugged.hold()["held"] == original
    assert (debugged.hold()["edit"]["action"], debugged.hold()["edit"]["actor"]) == ("edit", "Ada")
    assert debugged.kept()["state"] == {}
    debugged.tell("step_event")
    assert debugged.kept()["state"] == {"n": 100}
    debugged.tell("continue")
    assert "saw 100" in log_of(debugged)
    _, edited, *others = debugged.kept()["events"]
    [edit] = edits_of(debugged)
    assert marks(edited) == [
        {"edit": edit["id"], "gate": "before_commit", "action": "edit", "by": "Ada"}
    ]
    assert edited["id"] == original["id"] == edit["event"]
    assert not [mark for event in others for mark in marks(event)]
    assert (edit["before"], edit["after"], edit["run"]) == (original, replacement, debugged.run)


def test_a_key_removed_from_a_delta_is_neither_stored_nor_seen(client):
    debugged = at(client, "writes", "before_commit", "writes")
    replacement = copy.deepcopy(debugged.hold()["held"])
    del replacement["actions"]["stateDelta"]["a"]
    debugged.tell("edit", value=replacement)
    debugged.tell("continue")
    assert debugged.kept()["state"] == {"b": 1}
    assert "saw None 1" in log_of(debugged)
    is_replayed(debugged)


def test_a_dropped_event_is_not_stored_and_its_changes_are_discarded(client):
    debugged = at(client, "writes", "before_commit", "writes")
    debugged.tell("drop")
    assert debugged.tell("continue")["status"] == "done"
    assert len(debugged.kept()["events"]) == 1
    assert debugged.kept()["state"] == {}
    assert "saw None None" in log_of(debugged)
    assert [edit["action"] for edit in edits_of(debugged)] == ["drop"]


def test_after_a_drop_the_agent_sees_the_committed_state(client):
    debugged = at(client, "writes", "before_commit", "writes", state={"a": "clean"})
    debugged.tell("drop")
    debugged.tell("continue")
    assert debugged.kept()["state"] == {"a": "clean"}
    assert "saw clean None" in log_of(debugged)
    is_replayed(debugged)


def test_an_edit_can_be_undone_until_the_run_continues(client):
    debugged = at(client, "count", "before_commit", "count")
    debugged.tell("drop")
    assert debugged.tell("undo")["holds"][0]["edit"] is None
    debugged.tell("drop")
    back = dict(reversed(debugged.hold()["held"].items()))
    assert debugged.tell("edit", value=back)["holds"][0]["edit"] is None
    debugged.tell("continue")
    assert debugged.kept()["state"] == {"n": 3}
    assert edits_of(debugged) == []


@pytest.mark.parametrize(
    ("gate", "command", "value", "answer"),
    [
        ("before_tool", "edit", {"city": "Bern"}, "It is sunny in Bern."),
        ("before_tool", "mock", "raining frogs", "It is raining frogs."),
        ("after_tool", "edit", "stormy", "It is stormy."),
        ("before_tool", "mock", None, "It is null."),
    ],
)
def test_edited_arguments_and_results_determine_the_answer(client, gate, command, value, answer):
    debugged = at(client, "weather", gate)
    debugged.tell(command, value=value)
    assert debugged.tell("continue")["status"] == "done"
    assert debugged.texts()[-1] == answer
    call, result = debugged.kept()["events"][1:3]
    assert marks(call) == []
    assert [(mark["gate"], mark["action"]) for mark in marks(result)] == [(gate, command)]
    assert [mark["call"] for mark in marks(result)] == [
        result["content"]["parts"][0]["functionResponse"]["id"]
    ]
    assert call["content"]["parts"][0]["functionCall"]["args"] == {"city": "Oslo"}
    is_replayed(debugged)


@pytest.mark.parametrize(
    ("gate", "part"),
    [
        ("before_commit", None),
        ("before_model", None),
        ("after_model", None),
        ("before_tool", "args"),
        ("after_tool", "result"),
    ],
)
def test_an_edit_without_a_change_is_refused(client, gate, part):
    debugged = at(client, "weather", gate, "forecaster")
    held, position = debugged.hold()["held"], debugged.position["position"]
    value = held[part] if part else held
    refused = debugged.post("edit", key="same", position=position, value=value)
    assert refused.status_code == 422
    assert "nothing was changed" in refused.json()["detail"]
    assert refused.json()["position"]["position"] == position
    assert refused.json()["position"]["holds"][0]["edit"] is None
    debugged.tell("continue")
    assert (edits_of(debugged), debugged.texts()[-1]) == ([], "It is sunny in Oslo.")
    assert not [mark for event in debugged.kept()["events"] for mark in marks(event)]


def test_the_row_of_an_edited_result_starts_with_the_change(client):
    debugged = at(client, "weather", "after_tool", "forecaster")
    debugged.tell("edit", value={"sky": "sunny", "wind": 3})
    debugged.tell("step_half")
    event = debugged.hold()["held"]
    event["content"]["parts"][0]["functionResponse"]["response"]["wind"] = 40
    debugged.tell("edit", value=event)
    assert debugged.tell("continue")["status"] == "done"
    row = client.get(f"/sessions/{debugged.key}").text.partition('id="e-3"')[2]
    text = html.unescape(re.search(r'<span class="what.*?</span>\n', row)[0])
    assert '> → </span>wind 3 → 40 · {"sky": "sunny", "wind": 40}<' in text.replace("weather", "")


def test_the_page_shows_requested_and_edited_arguments_of_a_call(client):
    debugged = at(client, "weather", "before_tool")
    debugged.tell("edit", value={"city": "Bern"})
    detail = client.get(f"/sessions/{debugged.key}").text
    assert re.search(r"<del>[^<]*Oslo[^<]*</del> <ins>[^<]*Bern[^<]*</ins>", detail)
    debugged.tell("continue")
    page = client.get(f"/sessions/{debugged.key}").text
    (ran,) = re.findall(r'class="ran".*?<code[^>]*>(.*?)</code>', page)
    assert html.unescape(ran) == 'city="Bern"'
    assert '(city="Bern") →' in html.unescape(page)
    number = next(
        row["number"]
        for row in client.get(f"/api/sessions/{debugged.key}/events").json()["events"]
        if row["kind"] == "call"
    )
    exported = client.get(f"/api/sessions/{debugged.key}/export?format=html").text
    fork = client.post(f"/api/sessions/{debugged.key}/forks", json={"number": number + 1}).json()
    for of in (debugged.key, fork["key"]):
        detail = client.get(f"/sessions/{of}?event={number}").text
        inspector = detail[detail.index('id="inspector"') :]
        (ran,) = re.findall(r'class="ran".*?<code[^>]*>(.*?)</code>', inspector)
        assert html.unescape(ran) == 'city="Bern"'
    assert len(re.findall(r'class="ran"', exported)) == 2, "the chat and the event"


def test_a_mock_equal_to_the_arguments_is_still_a_mock(client):
    debugged = at(client, "weather", "before_tool")
    debugged.tell("mock", value=debugged.hold()["held"]["args"])
    debugged.tell("continue")
    assert [edit["action"] for edit in edits_of(debugged)] == ["mock"]


@pytest.mark.parametrize(
    ("command", "value", "response"),
    [
        ("skip", None, {"skipped": "the call was skipped by a person"}),
        ("reject", "too far north", {"error": "too far north"}),
    ],
)
def test_the_tool_of_a_skipped_or_rejected_call_does_not_run(client, command, value, response):
    debugged = at(client, "weather", "before_tool")
    debugged.tell(command, value=value)
    debugged.tell("continue")
    part = debugged.kept()["events"][2]["content"]["parts"][0]["functionResponse"]
    assert part["response"] == response
    assert part["id"] == debugged.kept()["events"][1]["content"]["parts"][0]["functionCall"]["id"]
    assert "city" not in debugged.kept()["state"]
    is_replayed(debugged)


STORMY = {"content": {"role": "model", "parts": [{"text": "It is stormy."}]}}
SECOND = [
    ("before_tool", "mock", "stormy", 2),
    ("after_tool", "edit", "stormy", 2),
    ("before_model", "mock", STORMY, 3),
    ("after_model", "edit", STORMY, 3),
]


@pytest.mark.parametrize(("gate", "command", "value", "nth"), SECOND)
def test_a_replay_edits_the_same_one_of_two_equal_nested_calls(client, gate, command, value, nth):
    debugged = at(client, "nested", gate, "forecaster")
    for _ in range(nth - 1):
        debugged.tell("run_to", like={"gate": gate, "agent": "forecaster"})
    debugged.tell(command, value=value)
    assert debugged.tell("continue")["status"] == "done"
    assert debugged.texts()[-1] == "I hear: It is stormy."
    is_replayed(debugged)


def test_an_edited_event_without_an_author_keeps_its_own(client):
    debugged = at(client, "writes", "before_commit", "writes")
    debugged.tell("edit", value={"actions": {"stateDelta": {"b": 2}}})
    debugged.tell("continue")
    event = debugged.kept()["events"][1]
    assert (event["author"], event["actions"]["stateDelta"]) == ("writes", {"b": 2})
    is_replayed(debugged)


def test_a_mocked_model_answer_is_marked(client):
    debugged = at(client, "weather", "before_model")
    debugged.tell("mock", value="Look out of the window.")
    assert debugged.tell("continue")["status"] == "done"
    assert debugged.texts() == ["go", "Look out of the window."]
    [mark] = marks(debugged.kept()["events"][1])
    assert (mark["gate"], mark["action"]) == ("before_model", "mock")
    is_replayed(debugged)


def test_a_model_sees_the_edited_request(client):
    debugged = at(client, "weather", "before_model")
    debugged.tell("run_to", like={"gate": "before_model"})
    request = copy.deepcopy(debugged.hold()["held"])
    result = request["contents"][-1]["parts"][0]["functionResponse"]
    result["response"] = {"result": "snowing"}
    debugged.tell("edit", value=request)
    debugged.tell("continue")
    assert debugged.texts()[-1] == "It is snowing."
    part = debugged.kept()["events"][2]["content"]["parts"][0]["functionResponse"]
    assert part["response"] == {"result": "sunny in Oslo"}
    is_replayed(debugged)


def test_the_calls_of_an_edited_response_are_made(client):
    debugged = at(client, "weather", "after_model")
    response = copy.deepcopy(debugged.hold()["held"])
    response["content"]["parts"][0]["functionCall"]["args"] = {"city": "Rome"}
    debugged.tell("edit", value=response)
    debugged.tell("continue")
    assert debugged.texts()[-1] == "It is sunny in Rome."
    assert [mark["gate"] for mark in marks(debugged.kept()["events"][1])] == ["after_model"]
    is_replayed(debugged)


@pytest.mark.req("R32")
@pytest.mark.parametrize(
    ("gate", "command", "value", "problem"),
    [
        ("before_commit", "edit", {"author": "x", "actions": {"fly": True}}, "actions.fly: "),
        ("before_commit", "edit", {"author": 5, "content": "no"}, "author: Input should be"),
        ("before_commit", "edit", "no event", "must be an object"),
        ("before_model", "edit", {"contents": [{"role": 3}]}, "role: Input should be"),
        ("before_model", "mock", {"content": 7}, "content: Input should be"),
        ("after_model", "edit", {"color": "red"}, "color: Extra inputs"),
        ("before_tool", "edit", ["no", "arguments"], "must be an object"),
        ("before_commit", "edit", {"x": 1}, "an event has no member 'x'"),
        ("before_model", "edit", {"contents": 5}, "contents must be a list"),
    ],
)
def test_an_invalid_edit_is_refused_with_the_problem(client, gate, command, value, problem):
    debugged = at(client, "weather", gate, "forecaster")
    before, position = debugged.hold(), debugged.position["position"]
    refused = debugged.post(command, key="wrong", position=position, value=value)
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith("the change doesn't fit: ")
    assert problem in refused.json()["detail"]
    assert "pydantic" not in refused.json()["detail"]
    assert refused.json()["position"]["holds"] == [before]
    form = {"command": command, "key": "form", "position": position, "value": json.dumps(value)}
    page = client.post(
        f"/runs/{debugged.run}/commands",
        data={**form, "hold": before["id"]},
        headers={"Accept": "text/html", "HX-Request": "true"},
    ).text
    field = re.search(
        r'<textarea id="(?:json|mock)-[^>]*aria-describedby="([^"]+)"[^>]*>([^<]*)<', page
    )
    assert json.loads(html.unescape(field[2])) == value
    message = re.search(rf'id="{field[1]}"[^>]*>([^<]*)<', page)[1]
    assert html.unescape(message) == refused.json()["detail"]
    assert debugged.tell("continue")["status"] == "done"
    assert debugged.texts()[-1] == "It is sunny in Oslo."
    assert not [mark for event in debugged.kept()["events"] for mark in marks(event)]


@pytest.mark.slow
def test_a_call_is_held_again_if_a_busy_worker_refuses_its_edit(client):
    """The app's code blocks the event loop, so the edit can't be checked when it is made."""
    debugged = at(client, "blocks", "before_tool", "blocker")
    before = debugged.hold()
    other = DebuggedRun(client, "blocks").start(pause=False)
    wait_until(lambda: client.get(f"/api/runs/{other.run}/activity").json()["blocked"])
    debugged.tell("edit", value=["no", "arguments"])
    debugged.tell("continue")
    hold = debugged.hold()
    assert (hold["gate"], hold["reason"], hold["held"]) == (
        "before_tool",
        "problem",
        before["held"],
    )
    assert "must be an object" in hold["problem"]
    page = client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
    assert f"The change failed: {hold['problem']}" in html.unescape(page)
    debugged.tell("stop")
    assert other.settled()["status"] == "done"


def test_edits_that_a_gate_does_not_allow_are_refused(client):
    debugged = at(client, "count", "after_commit")
    for command in ("edit", "drop", "mock"):
        body = {"key": command, "position": debugged.position["position"]}
        refused = debugged.post(command, **body)
        assert refused.status_code == 422
        assert f"at after_commit you can use nothing, not {command}" in refused.json()["detail"]
    assert debugged.hold()["actions"] == []
    debugged.tell("stop")


@pytest.mark.req("R32")
def test_a_stale_edit_overwrites_nothing(client):
    debugged = at(client, "count", "before_commit", "count")
    old = debugged.position["position"]
    debugged.tell("drop", actor="Ada")
    late = debugged.post("edit", key="late", position=old, value={})
    assert late.status_code == 409
    assert late.json()["position"]["holds"][0]["edit"]["actor"] == "Ada"
    debugged.tell("stop")


def test_the_details_of_an_edited_event_show_its_mark(client):
    debugged = at(client, "count", "before_commit", "count")
    replacement = copy.deepcopy(debugged.hold()["held"])
    replacement["actions"]["stateDelta"] = {"n": 100}
    debugged.tell("edit", value=replacement)
    debugged.tell("continue")
    event = client.get(f"/sessions/{debugged.key}/events/2", headers={"Accept": "text/html"}).text
    assert "devui_edited" in event


def test_edits_are_marked_in_every_export(client):
    debugged = at(client, "weather", "before_tool")
    debugged.tell("mock", value="rain")
    debugged.tell("continue")
    exported = f"/api/sessions/{debugged.key}/export"
    bundle = client.get(exported)
    assert '"action":"mock"' in bundle.text.replace(" ", "")
    page = client.get(exported, params={"format": "html"}).text
    assert "mocked" in page
    assert "answered for the tool" in page
    [result_event] = [event for event in debugged.kept()["events"] if marks(event)]
    assert marks(result_event)[0]["action"] == "mock"
    headers = {"content-type": "application/json"}
    copy_row = client.post("/api/sessions/import", content=bundle.content, headers=headers).json()
    assert (
        client.get(f"/api/sessions/{copy_row['key']}/edits").json()["edits"][0]["after"] == "rain"
    )
    assert "mocked" in client.get(f"/sessions/{copy_row['key']}").text


def test_state_changes_of_an_edited_or_dropped_event_are_not_announced(client):
    debugged = at(client, "writes", "before_commit", "writes")
    page = f"/sessions/{debugged.key}"
    assert "2 state keys will change" in client.get(page).text
    replacement = copy.deepcopy(debugged.hold()["held"])
    replacement["actions"]["stateDelta"] = {"b": 1}
    for change, announced in (("edit", ["1 state key will change"]), ("drop", [])):
        debugged.tell(change, value=replacement)
        assert re.findall(r"\d+ state keys? will change", client.get(page).text) == announced
        debugged.tell("undo")
        assert "2 state keys will change" in client.get(page).text
    debugged.tell("stop")


@pytest.mark.req("R32")
def test_patching_the_state_during_a_run_is_refused(client):
    debugged = at(client, "count", "before_commit", "count")
    path = f"/apps/count/users/u/sessions/{debugged.session}"
    refused = client.patch(path, json={"stateDelta": {"n": 7}})
    assert refused.status_code == 409
    assert "run" in refused.json()["detail"]
    assert debugged.kept()["state"] == {}
    debugged.tell("stop")
    assert client.patch(path, json={"stateDelta": {"n": 7}}).status_code == 200
    last = debugged.kept()["events"][-1]
    assert (last["author"], last["actions"]["stateDelta"]) == ("user", {"n": 7})
