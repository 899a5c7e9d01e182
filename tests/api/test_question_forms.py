"""Agents' questions as forms over HTTP: read, filled in, and answered once."""

import json

import pytest

from tests.kit.asking_apps import ASKS
from tests.kit.debugged_run import DebuggedRun, forget_sessions
from tests.kit.schema_checks import SCHEMAS, check
from tests.kit.server import running, write_app

SECRET = "sk-ant-" + "a1B2c3D4" * 5
ORDERS = f'''
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import LongRunningFunctionTool


def order(what: str) -> dict:
    """Orders what comes in some days."""
    return {{"ticket": 17, "token": "{SECRET}"}}


root_agent = Agent(
    name="orders",
    model=ScriptedLlm(rules=[
        Rule(after="order", then=Say("ordered")), Rule(then=Call("order", what="ink")),
    ]),
    tools=[LongRunningFunctionTool(order)],
)
'''


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    root = tmp_path_factory.mktemp("questions")
    write_app(root / "agents", "asks", ASKS)
    write_app(root / "agents", "orders", ORDERS)
    with running(root / "agents", root / "data") as server:
        yield server


@pytest.fixture
def debugged(server):
    with server.client() as client:
        forget_sessions(client)
        yield DebuggedRun(client, "asks")


def questions(debugged):
    body = debugged.client.get(f"/api/sessions/{debugged.key}/questions").json()
    for question in body["questions"]:
        check(question, SCHEMAS["QuestionForm"])
    return body["questions"]


def reply(debugged, question, **fields):
    body = {"event": question["event"], "call": question["call"], "fields": fields}
    answer = debugged.client.post(f"/api/sessions/{debugged.key}/answers", json=body)
    if answer.status_code == 201:
        debugged.run = answer.json()["run"]
        debugged.settled()
    return answer


def test_parallel_questions_are_answered_one_by_one(debugged):
    assert questions(debugged) == []
    debugged.start("pay", pause=False).settled()
    first, second = questions(debugged)
    assert first["about"] == "pay(amount=5)"
    assert [each["value"] for each in first["choices"]] == ["yes", "no"]
    assert reply(debugged, first, choice="yes").status_code == 201
    assert [each["call"] for each in questions(debugged)] == [second["call"]]
    assert reply(debugged, second, choice="no").status_code == 201
    assert questions(debugged) == []
    assert reply(debugged, second, choice="yes").status_code == 409


def test_an_invalid_field_is_reported_and_changes_nothing(debugged):
    debugged.start("seats", pause=False).settled()
    [question] = questions(debugged)
    names = [field["name"] for field in question["fields"]]
    assert names == ["answer.seats", "answer.window"]
    wrong = reply(debugged, question, **{"answer.seats": "two", "answer.window": "on"})
    assert (wrong.status_code, "seats" in wrong.json()["detail"]) == (422, True)
    assert (
        reply(debugged, question, **{"answer.seats": "2", "answer.window": "on"}).status_code == 201
    )
    assert debugged.texts()[-1].startswith("So ")


def test_a_question_that_nobody_asked_cannot_be_answered(debugged):
    debugged.start("hello", pause=False).settled()
    assert reply(debugged, {"event": 1, "call": "adk-1"}, choice="yes").status_code == 404


def test_the_form_of_a_long_running_call_keeps_secrets_in_its_result(server):
    with server.client() as client:
        debugged = DebuggedRun(client, "orders")
        debugged.start("ink", pause=False).settled()
        [question] = questions(debugged)
        shown = json.loads(question["fields"][0]["value"])
        assert shown["ticket"] == 17
        assert SECRET not in question["fields"][0]["value"]
        reply(debugged, question, response=json.dumps({**shown, "state": "sent"}))
        bundle = client.get(f"/api/sessions/{debugged.key}/export?secrets=keep").json()
    events = [each["event"] for each in bundle["records"] if each["type"] == "event"]
    [answer] = [
        part["functionResponse"]["response"]
        for event in events
        for part in event["content"]["parts"]
        if event["author"] == "user" and "functionResponse" in part
    ]
    assert answer == {"ticket": 17, "token": SECRET, "state": "sent"}
