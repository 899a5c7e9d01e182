"""A hanging call is ended or answered over HTTP without ending its run."""

import time
import uuid
from typing import Any

import pytest

from tests.api.test_run_activity import let_go, seen
from tests.kit.debugged_run import DebuggedRun
from tests.kit.patience import PATIENCE
from tests.kit.schema_checks import check
from tests.kit.server import running, write_app
from tests.kit.stuck_apps import APPS

WAITS = {
    "sleeping": "look_up",
    "thread": "fetch",
    "model": "slow-one",
    "streamed": "slow-one",
    "handled": "look_up",
    "stubborn": "look_up",
    "blocked": "crunch",
    "tools": "slow",
    "twice": "slow",
}
"""The name of each app's call that does not return."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calls")
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
    """Start a run; return it and its hanging call. Afterwards the call is released."""
    begun: list[DebuggedRun] = []

    def start(app: str, **more: Any) -> tuple[DebuggedRun, dict[str, Any]]:
        (server.agents / app / "go").unlink(missing_ok=True)
        begun.append(DebuggedRun(client, app).start(**{"pause": False, **more}))
        return begun[-1], call_of(begun[-1], WAITS[app])

    yield start
    for debugged in begun:
        let_go(server, debugged)


def call_of(debugged: DebuggedRun, name: str) -> dict[str, Any]:
    def of_that_name(activity):
        return [each for each in activity["calls"] if each["name"] == name]

    return of_that_name(seen(debugged, of_that_name))[0]


def order(debugged: DebuggedRun, call: dict[str, Any], command: str, **more: Any) -> Any:
    body = {"command": command, "key": uuid.uuid4().hex, "call": call["id"], **more}
    return debugged.client.post(f"/api/runs/{debugged.run}/calls", json=body)


def results(debugged: DebuggedRun) -> list[Any]:
    """The results of tools in the session's events."""
    parts = [
        p for e in debugged.kept()["events"] for p in (e.get("content") or {}).get("parts", [])
    ]
    return [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]


def marks(debugged: DebuggedRun) -> list[tuple[str, str, str]]:
    edits = [
        mark
        for event in debugged.kept()["events"]
        for mark in (event.get("customMetadata") or {}).get("devui_edited", [])
    ]
    return [(mark["gate"], mark["action"], mark["by"]) for mark in edits]


def log(debugged: DebuggedRun) -> str:
    return debugged.client.get(f"/runs/{debugged.run}/log").text


def test_ending_a_tool_call_gives_the_agent_an_error(begin):
    debugged, call = begin("sleeping")
    done = order(debugged, call, "end", value="the site is down", actor="Ada")
    assert done.status_code == 200, done.text
    check(done.json(), {"$ref": "/Position"})
    assert done.json()["lastCommand"]["actor"] == "Ada"
    assert debugged.settled()["status"] == "done"
    [result] = results(debugged)
    assert result["error"].startswith("Ada ended the call of look_up after ")
    assert result["error"].endswith("s: the site is down")
    assert debugged.texts()[-1] == "done"
    assert marks(debugged) == [("in_tool", "end", "Ada")]
    page = debugged.client.get(f"/sessions/{debugged.key}?event=3").text
    assert "Ada ended the call" in page
    assert "while it was held" not in page
    [edit] = debugged.client.get(f"/api/sessions/{debugged.key}/edits").json()["edits"]
    check(edit, {"$ref": "/Edit"})
    assert (edit["action"], edit["tool"], edit["after"]) == ("end", "look_up", result["error"])
    assert edit["before"]["given"] == '{"city":"Oslo"}'
    assert "look_up ended by Ada" in log(debugged)


def test_an_answer_given_by_hand_to_a_tool_call_is_replayed(begin, client):
    debugged, call = begin("sleeping")
    assert order(debugged, call, "answer", value={"found": [1, 2]}).status_code == 200
    assert debugged.settled()["status"] == "done"
    assert results(debugged) == [{"found": [1, 2]}]
    assert marks(debugged) == [("in_tool", "mock", "api")]
    replay = client.post(f"/api/sessions/{debugged.key}/replays", json={}).json()
    again = DebuggedRun.__new__(DebuggedRun)
    again.client, again.run = client, replay["run"]
    assert again.settled()["status"] == "done"
    assert client.get(f"/api/runs/{again.run}/replay").json()["verdict"]["identical"] is True


def test_a_model_call_is_answered_by_hand_or_ended_with_an_error_event(begin):
    debugged, call = begin("model")
    assert order(debugged, call, "answer", value="Thirty-nine steps").status_code == 200
    assert (debugged.settled()["status"], debugged.texts()[-1]) == ("done", "Thirty-nine steps")
    assert marks(debugged) == [("in_model", "mock", "api")]
    failed, call = begin("model")
    assert order(failed, call, "end").status_code == 200
    assert failed.settled()["status"] == "done"
    event = failed.kept()["events"][-1]
    assert event["errorCode"] == "CALL_ENDED"
    assert "api ended the call of slow-one after" in event["errorMessage"]


def test_a_stalled_stream_is_answered_by_hand(begin):
    debugged, _ = begin("streamed", streaming=True)
    until = seen(debugged, lambda activity: activity["calls"] and activity["calls"][0]["place"])
    assert order(debugged, until["calls"][0], "answer", value="and stormy").status_code == 200
    assert (debugged.settled()["status"], debugged.texts()) == ("done", ["go", "and stormy"])


def test_the_agents_callbacks_handle_the_error_of_an_ended_call(begin):
    debugged, call = begin("handled")
    assert order(debugged, call, "end").status_code == 200
    assert debugged.settled()["status"] == "done"
    [result] = results(debugged)
    assert result["sorry"].startswith("CallEndedError: api ended the call of look_up")


def test_a_call_in_a_thread_is_answered_while_the_thread_keeps_running(begin):
    debugged, _ = begin("thread")
    activity = seen(debugged, lambda now: now["calls"] and now["calls"][0]["thread"])
    assert order(debugged, activity["calls"][0], "answer", value="cached").status_code == 200
    assert debugged.settled()["status"] == "done"
    assert results(debugged) == [{"result": "cached"}]
    assert "a thread can't be stopped: its function keeps running" in log(debugged)


def test_the_late_result_of_a_thread_is_logged(server, begin):
    debugged, _ = begin("thread")
    debugged.post("pause", key="pause")
    activity = seen(debugged, lambda now: now["calls"] and now["calls"][0]["thread"])
    assert order(debugged, activity["calls"][0], "end").status_code == 200
    assert debugged.settled()["status"] == "held"
    (server.agents / "thread" / "go").write_text("go", encoding="utf-8")
    until = time.monotonic() + PATIENCE
    while "fetch finished in its thread" not in log(debugged):
        assert time.monotonic() < until, log(debugged)
        time.sleep(0.05)
    debugged.tell("continue")
    assert [each.keys() for each in results(debugged)] == [{"error"}]


def test_repeating_a_key_ends_a_call_once_even_after_its_run(begin):
    debugged, call = begin("sleeping")
    debugged.tell("pause", wait=False)
    first = order(debugged, call, "end", key="k")
    again = order(debugged, call, "end", key="k")
    assert (first.status_code, again.status_code) == (200, 200), first.text
    debugged.settled()
    assert debugged.tell("continue")["status"] == "done"
    late = order(debugged, call, "end", key="k")
    assert (again.json(), late.json()) == (first.json(), first.json())
    assert order(debugged, call, "answer", key="k", value=1).status_code == 422
    assert len(debugged.client.get(f"/api/sessions/{debugged.key}/edits").json()["edits"]) == 1


def test_ending_a_finished_call_is_refused_with_the_position(begin):
    debugged, call = begin("sleeping", pause=False)
    assert order(debugged, call, "answer", value=1).status_code == 200
    debugged.settled()
    late = order(debugged, call, "end")
    assert late.status_code == 409
    check(late.json(), {"$ref": "/CommandRefused"})
    assert late.json()["position"]["status"] == "done"
    other, call = begin("sleeping")
    answer = order(other, {"id": call["id"] + 1000}, "end")
    assert (answer.status_code, answer.json()["detail"]) == (409, "the call has already ended")
    assert answer.json()["position"]["status"] == "running"
    assert other.client.get(f"/api/sessions/{other.key}/edits").json()["edits"] == []


def test_an_invalid_answer_is_refused_and_changes_nothing(begin):
    debugged, call = begin("model")
    wrong = order(debugged, call, "answer", value={"content": 7})
    assert (wrong.status_code, "content" in wrong.json()["detail"]) == (422, True)
    assert call_of(debugged, "slow-one")["ending"] is False
    assert debugged.client.get(f"/api/sessions/{debugged.key}/edits").json()["edits"] == []


def test_the_result_of_a_tool_that_ignores_cancellation_is_dropped(server, begin):
    debugged, call = begin("stubborn")
    assert order(debugged, call, "answer", value="mine").status_code == 200
    seen(debugged, lambda activity: activity["calls"] and activity["calls"][0]["ending"])
    again = order(debugged, call, "end")
    assert (again.status_code, "hasn't responded" in again.json()["detail"]) == (409, True)
    assert let_go(server, debugged) == "done"
    assert results(debugged) == [{"result": "mine"}]
    assert "despite its cancellation" in log(debugged)


def test_ending_a_call_is_refused_while_the_event_loop_is_blocked(begin):
    debugged, call = begin("blocked")
    seen(debugged, lambda activity: activity["blocked"])
    refused = order(debugged, call, "end")
    assert (refused.status_code, "event loop" in refused.json()["detail"]) == (409, True)


def test_ending_one_of_two_parallel_calls_leaves_the_other_running(server, begin):
    debugged, call = begin("tools")
    assert order(debugged, call, "end").status_code == 200
    assert debugged.settled()["status"] == "done"
    assert [set(each) for each in results(debugged)] == [{"error"}, {"result"}]


def test_a_call_is_selected_by_id_or_by_an_unambiguous_name(begin):
    debugged, _ = begin("twice")
    both = seen(debugged, lambda activity: len(activity["calls"]) == 2)["calls"]
    by_name = {"id": "slow"}
    unclear = order(debugged, by_name, "end")
    assert unclear.status_code == 422
    for each in both:
        assert f"{each['id']} ({each['about']})" in unclear.json()["detail"]
    by_id, there = {"id": both[1]["call"]}, {"value": "there", "key": "once"}
    first = order(debugged, by_id, "answer", **there)
    assert first.status_code == 200
    assert order(debugged, by_name, "end").status_code == 200  # only one is left
    assert debugged.settled()["status"] == "done"
    assert order(debugged, by_id, "answer", **there).json() == first.json()
    assert [set(each) for each in results(debugged)] == [{"error"}, {"result"}]


def test_a_run_can_be_stopped_after_one_of_its_calls_was_ended(begin):
    debugged, call = begin("stubborn")
    assert order(debugged, call, "end").status_code == 200
    debugged.post("stop", key="stop")
    assert order(debugged, call, "end").status_code == 409
    assert debugged.settled()["status"] == "stopped"
