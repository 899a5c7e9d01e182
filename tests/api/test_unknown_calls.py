"""A tool that was running when its run was cut off: no one reruns it without permission."""

import re
import time

import pytest

from tests.api.test_resume import resume
from tests.kit.cutoff import Clerk, begun
from tests.kit.debugged_run import DebuggedRun, forget_sessions
from tests.kit.patience import PATIENCE
from tests.kit.server import running, write_app

FRAGILE = """
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


def rate(currency: str) -> float:
    return {"EUR": 1.0}[currency]


rules = [Rule(after="rate", then=Say("{result}")), Rule(then=Call("rate", currency="GBP"))]
root_agent = Agent(name="fragile", model=ScriptedLlm(rules=rules), tools=[rate])
"""


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    """The app and its server; each test sets up the tools and the ledger anew."""
    folder = tmp_path_factory.mktemp("office")
    clerk = Clerk(folder / "agents")
    write_app(folder / "agents", "fragile", FRAGILE)
    with running(folder / "agents", folder / "data") as server:
        yield clerk, server


@pytest.fixture
def clerk(office):
    clerk, _ = office
    clerk.begin_anew()
    return clerk


@pytest.fixture
def server(office, clerk):
    _, server = office
    yield server
    with server.client() as client:
        forget_sessions(client)


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def stopped(client, clerk: Clerk, message: str = "pay") -> DebuggedRun:
    debugged = begun(client, clerk, message)
    debugged.post("stop", key="stop")
    debugged.settled()
    clerk.will_finish()
    return debugged


def cutoff(debugged: DebuggedRun) -> dict:
    return debugged.client.get(f"/api/sessions/{debugged.key}/cutoff").json()


def go_on(debugged: DebuggedRun, **unknown):
    body = {"invocationId": debugged.position["invocationId"], "unknown": unknown}
    answer = debugged.client.post(f"/api/sessions/{debugged.key}/runs", json=body)
    if answer.status_code == 201:
        debugged.run = answer.json()["run"]
        debugged.settled()
    return answer


def call_id(debugged: DebuggedRun) -> str:
    [call] = cutoff(debugged)["unknown"]
    return call["id"]


def test_a_call_that_has_returned_is_not_made_again(client, clerk):
    clerk.will_finish()
    debugged = DebuggedRun(client, "clerk").start("pay")
    debugged.settled()
    while debugged.hold()["gate"] != "after_tool":
        debugged.tell("step_into")
    debugged.tell("stop")
    [call] = cutoff(debugged)["unknown"]
    assert (call["recorded"], call["default"]) == ({"result": "pay 7 done"}, "recorded")
    assert call["writes"] == {"paid": 7}
    assert go_on(debugged, **{call["id"]: {"do": "recorded"}}).status_code == 201
    assert debugged.position["status"] == "done"
    assert debugged.texts()[-1] == "answered: pay 7 done"
    assert clerk.ledger == ["pay 7"]
    session = debugged.kept()
    assert session["state"] == {"paid": 7}
    assert session["events"][2]["actions"]["stateDelta"] == {"paid": 7}


@pytest.mark.req("R54")
def test_a_resume_without_a_decision_is_refused_with_the_calls(client, clerk):
    debugged = stopped(client, clerk)
    answer = go_on(debugged)
    assert answer.status_code == 409
    [call] = answer.json()["unknown"]
    assert (call["tool"], call["args"], call["event"]) == ("pay", {"amount": 7}, 2)
    assert (call["default"], call["needsDecision"], call["mark"]) == ("fail", True, None)
    assert cutoff(debugged)["unknown"] == [call]
    assert clerk.ledger == ["pay 7"]


@pytest.mark.parametrize(
    ("decision", "ledger", "reply"),
    [
        ({"do": "run"}, ["pay 7", "pay 7"], "answered: pay 7 done"),
        ({"do": "result", "result": {"result": "paid"}}, ["pay 7"], "answered: paid"),
        ({"do": "result", "result": "paid by hand"}, ["pay 7"], "answered: paid by hand"),
    ],
)
def test_an_invocation_resumes_with_a_decision(client, clerk, decision, ledger, reply):
    debugged = stopped(client, clerk)
    assert go_on(debugged, **{call_id(debugged): decision}).status_code == 201
    assert debugged.position["status"] == "done"
    assert debugged.texts()[-1] == reply
    assert clerk.ledger == ledger
    assert {event["invocationId"] for event in debugged.kept()["events"]} == {
        debugged.position["invocationId"]
    }


def test_a_call_declared_failed_gives_an_error_and_is_an_edit(client, clerk):
    debugged = stopped(client, clerk)
    decision = {"do": "fail", "reason": "the bank was away"}
    assert go_on(debugged, **{call_id(debugged): decision}).status_code == 201
    response = debugged.kept()["events"][2]
    [part] = response["content"]["parts"]
    assert part["functionResponse"]["response"] == {"error": "the bank was away"}
    assert response["author"] == "clerk"
    [edit] = client.get(f"/api/sessions/{debugged.key}/edits").json()["edits"]
    assert (edit["gate"], edit["action"], edit["tool"]) == ("resume", "reject", "pay")
    [mark] = response["customMetadata"]["devui_edited"]
    assert mark["edit"] == edit["id"]
    assert clerk.ledger == ["pay 7"]


def test_an_idempotent_tool_is_rerun_without_asking(client, clerk):
    debugged = stopped(client, clerk, "look around")
    [call] = cutoff(debugged)["unknown"]
    assert (call["default"], call["needsDecision"], call["mark"]) == ("run", False, "idempotent")
    assert go_on(debugged).status_code == 201
    assert debugged.texts()[-1] == "seen: look here done"
    assert clerk.ledger == ["look here", "look here"]


def test_a_decision_about_another_call_is_refused(client, clerk):
    debugged = stopped(client, clerk)
    answer = go_on(debugged, nonsense={"do": "run"})
    assert answer.status_code == 422
    assert "don't need a decision: nonsense" in answer.text


def test_the_resume_seeds_request_reruns_the_call(client, clerk):
    debugged = stopped(client, clerk)
    resume(client, "clerk", debugged.session, debugged.position["invocationId"])
    assert clerk.ledger == ["pay 7", "pay 7"]


@pytest.mark.req("R54")
def test_a_call_is_unknown_after_a_kill_of_the_server(server, clerk):
    with server.client() as client:
        debugged = begun(client, clerk)
        server.kill()
    clerk.will_finish()
    server.start()
    with server.client() as client:
        debugged.client = client
        debugged.settled()
        stands = cutoff(debugged)
        assert stands["status"] == "interrupted"
        assert [call["tool"] for call in stands["unknown"]] == ["pay"]
        assert go_on(debugged).status_code == 409
        assert go_on(debugged, **{call_id(debugged): {"do": "run"}}).status_code == 201
        assert clerk.ledger == ["pay 7", "pay 7"]


def test_a_decision_can_be_repeated_once_the_app_loads(server, clerk):
    with server.client() as client:
        debugged = stopped(client, clerk)
        count = len(debugged.kept()["events"])
    with clerk.broken():
        server.stop()
        server.start()
        with server.client() as client:
            debugged.client = client
            paid = {call_id(debugged): {"do": "result", "result": "paid"}}
            refused = go_on(debugged, **paid)
            assert refused.status_code == 409
            assert "clerk failed to load" in refused.text
            assert "nothing_at_all" in refused.text
            assert "agent.py:1" in refused.text
            assert len(debugged.kept()["events"]) == count
            assert call_id(debugged) in paid
    server.stop()
    server.start()
    with server.client() as client:
        debugged.client = client
        assert go_on(debugged, **paid).status_code == 201
        assert debugged.texts()[-1] == "answered: paid"
        assert clerk.ledger == ["pay 7"]


def test_a_long_running_call_is_unknown_unless_its_return_was_recorded(server, clerk):
    decisions = {
        "wait": {"do": "wait"},
        "run": {"do": "run"},
        "result": {"do": "result", "result": "a cup"},
        "fail": {"do": "fail", "reason": "sold out"},
    }
    with server.client() as client:
        cut = {name: begun(client, clerk, "order") for name in decisions}
        both = begun(client, clerk, "both")
        recorded(both, "order")
        server.kill()
    clerk.will_finish()
    server.start()
    with server.client() as client:
        for each in (*cut.values(), both):
            each.client = client
            each.settled()
        [call] = cutoff(both)["unknown"]
        assert call["tool"] == "pay"  # the other one had returned, and just waits
        refused = go_on(both, **{call["id"]: {"do": "wait"}})
        assert (refused.status_code, "can't be waited for" in refused.text) == (422, True)
        [call] = cutoff(cut["wait"])["unknown"]
        expected = {
            "tool": "order",
            "default": "wait",
            "needsDecision": True,
            "longRunning": True,
            "ran": True,
        }
        assert expected.items() <= call.items()
        assert go_on(cut["wait"]).status_code == 409
        for name, decision in decisions.items():
            assert go_on(cut[name], **{call_id(cut[name]): decision}).status_code == 201
            assert cut[name].position["status"] == "done"
        assert clerk.ledger == ["order tea"] * 4 + ["pay 7", "order tea"]
        stands = {name: cutoff(each)["status"] for name, each in cut.items()}
        assert stands == {"wait": "waiting", "run": "waiting", "result": "idle", "fail": "idle"}
        assert cut["result"].texts()[-1] == "delivered: a cup"
        assert "sold out" in cut["fail"].texts()[-1]
        for name in ("wait", "run"):
            assert answer_call(cut[name], "two cups").texts()[-1] == "delivered: two cups"


def recorded(debugged: DebuggedRun, tool: str) -> None:
    """Wait until the journal has the end of the tool's call."""
    patience = time.monotonic() + PATIENCE
    while True:
        spans = debugged.client.get(f"/api/sessions/{debugged.key}/spans").json()["spans"]
        if any(span["name"] == tool and span["seconds"] is not None for span in spans):
            return
        assert time.monotonic() < patience, spans
        time.sleep(0.05)


def answer_call(debugged: DebuggedRun, result: str) -> DebuggedRun:
    """Answer the session's long-running call."""
    calls = [
        part["functionCall"]
        for event in debugged.kept()["events"]
        for part in (event.get("content") or {}).get("parts", [])
        if "functionCall" in part
    ]
    response = {"id": calls[0]["id"], "name": "order", "response": {"result": result}}
    message = {"role": "user", "parts": [{"functionResponse": response}]}
    debugged.start(message, pause=False)
    debugged.settled()
    return debugged


@pytest.mark.parametrize(
    ("gate", "end", "message"),
    [
        ("after_commit", "stop", "pay"),
        ("before_tool", "kill", "pay"),
        ("after_commit", "kill", "order"),
        ("before_tool", "stop", "order"),
    ],
)
def test_a_call_held_before_its_tool_was_never_made(server, clerk, gate, end, message):
    clerk.will_finish()
    with server.client() as client:
        debugged = DebuggedRun(client, "clerk").start(message)
        debugged.settled()
        like = {"gate": gate} | ({"kind": "call"} if gate == "after_commit" else {})
        debugged.tell("run_to", like=like)
        assert debugged.hold()["gate"] == gate
        if end == "stop":
            debugged.post("stop", key="stop")
            debugged.settled()
        else:
            server.kill()
            server.start()
    with server.client() as client:
        debugged.client = client
        debugged.settled()
        # A long-running call is listed, since the runtime would wait for its result.
        assert [call["ran"] for call in cutoff(debugged)["unknown"]] == (
            [False] if message == "order" else []
        )
        assert go_on(debugged).status_code == 201
        assert clerk.ledger == ["pay 7" if message == "pay" else "order tea"]


@pytest.mark.parametrize(
    ("command", "value", "answer"),
    [
        ("mock", {"receipt": 9}, {"receipt": 9}),
        ("reject", "too dear", {"error": "too dear"}),
    ],
)
def test_a_mocked_or_rejected_call_was_never_made(server, clerk, command, value, answer):
    clerk.will_finish()
    with server.client() as client:
        debugged = DebuggedRun(client, "clerk").start("pay")
        debugged.settled()
        debugged.tell("run_to", like={"gate": "before_tool"})
        debugged.tell(command, value=value, actor="Ada")
        debugged.tell("run_to", like={"gate": "before_commit", "kind": "result"})
        if command == "reject":
            debugged.tell("stop")
        else:
            server.kill()
            server.start()
    with server.client() as client:
        debugged.client = client
        debugged.settled()
        [call] = cutoff(debugged)["unknown"]
        expected = {
            "ran": False,
            "needsDecision": False,
            "default": "recorded",
            "answeredBy": "Ada",
        }
        assert expected.items() <= call.items()
        assert call["recorded"] == answer
        page = client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
        assert "Ada answered it, but the answer wasn&#39;t committed" in page
        assert go_on(debugged).status_code == 201
        assert not (clerk.folder / "ledger").exists()
        [response] = [
            part["functionResponse"]["response"]
            for event in debugged.kept()["events"]
            for part in (event.get("content") or {}).get("parts", [])
            if "functionResponse" in part
        ]
        assert response == answer


def test_a_call_at_which_the_run_was_stopped_was_never_made(client, clerk):
    clerk.will_finish()
    debugged = DebuggedRun(client, "clerk").start("order")
    debugged.settled()
    debugged.tell("run_to", like={"gate": "before_commit", "kind": "call"})
    assert debugged.tell("stop_after_event")["status"] == "stopped"
    assert [call["ran"] for call in cutoff(debugged)["unknown"]] == [False]
    assert go_on(debugged).status_code == 201
    assert clerk.ledger == ["order tea"]


def test_a_closed_session_has_no_unknown_calls(client, clerk):
    debugged = stopped(client, clerk)
    assert cutoff(debugged)["status"] == "stopped"
    answer = client.post(f"/api/sessions/{debugged.key}/close", json={})
    assert (answer.status_code, answer.json()["status"]) == (200, "idle")
    assert cutoff(debugged)["unknown"] == []


def test_a_result_given_on_resume_is_shown_at_its_call(client, clerk):
    debugged = stopped(client, clerk)
    decision = {"do": "result", "result": "paid by hand"}
    assert go_on(debugged, **{call_id(debugged): decision}).status_code == 201
    page = client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
    [outcome] = re.findall(r'<div class="slot".*?</div>', page, re.DOTALL)
    assert "paid by hand" in outcome


def test_a_call_that_raised_can_be_rerun_or_given_a_result(client):
    failed = DebuggedRun(client, "fragile").start("go", pause=False)
    assert failed.settled()["status"] == "failed"
    [call] = cutoff(failed)["unknown"]
    assert (call["tool"], call["default"], call["needsDecision"]) == ("rate", "run", False)
    page = client.get(f"/sessions/{failed.key}", headers={"Accept": "text/html"}).text
    assert "Retry from here</button>" in page
    assert go_on(failed, **{call["id"]: {"do": "result", "result": 1.2}}).status_code == 201
    assert failed.position["status"] == "done"
    assert failed.texts()[-1] == "1.2"
