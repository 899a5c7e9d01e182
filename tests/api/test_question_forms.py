"""What agents ask, as forms over HTTP: read, filled in, and answered once."""

import pytest

from tests.kit.asking_apps import ASKS
from tests.kit.debugged import Debugged, forget_sessions
from tests.kit.described import SCHEMAS, check
from tests.kit.server import running, write_app


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    root = tmp_path_factory.mktemp("questions")
    write_app(root / "agents", "asks", ASKS)
    with running(root / "agents", root / "data") as opened:
        yield opened


@pytest.fixture
def asked(server):
    with server.client() as client:
        forget_sessions(client)
        yield Debugged(client, "asks")


def questions(asked):
    body = asked.client.get(f"/api/sessions/{asked.key}/questions").json()
    for question in body["questions"]:
        check(question, SCHEMAS["QuestionForm"])
    return body["questions"]


def reply(asked, question, **fields):
    body = {"event": question["event"], "call": question["call"], "fields": fields}
    answer = asked.client.post(f"/api/sessions/{asked.key}/answers", json=body)
    if answer.status_code == 201:
        asked.run = answer.json()["run"]
        asked.settled()
    return answer


def test_parallel_questions_are_answered_one_after_the_other(asked):
    assert questions(asked) == []
    asked.start("pay", pause=False).settled()
    first, second = questions(asked)
    assert first["about"] == "pay(amount=5)"
    assert [each["value"] for each in first["choices"]] == ["yes", "no"]
    assert reply(asked, first, choice="yes").status_code == 201
    assert [each["call"] for each in questions(asked)] == [second["call"]]
    assert reply(asked, second, choice="no").status_code == 201
    assert questions(asked) == []
    assert reply(asked, second, choice="yes").status_code == 409


def test_what_does_not_fit_a_field_is_said_and_changes_nothing(asked):
    asked.start("seats", pause=False).settled()
    [question] = questions(asked)
    names = [field["name"] for field in question["fields"]]
    assert names == ["answer.seats", "answer.window"]
    wrong = reply(asked, question, **{"answer.seats": "two", "answer.window": "on"})
    assert (wrong.status_code, "seats" in wrong.json()["detail"]) == (422, True)
    assert reply(asked, question, **{"answer.seats": "2", "answer.window": "on"}).status_code == 201
    assert asked.texts()[-1].startswith("So ")


def test_a_question_that_nobody_asked_cannot_be_answered(asked):
    asked.start("hello", pause=False).settled()
    assert reply(asked, {"event": 1, "call": "adk-1"}, choice="yes").status_code == 404
