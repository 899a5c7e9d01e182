"""`/run` takes all that a runtime can produce, and stores message, state and labels unchanged."""

import json
import uuid

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.test_sessions_back_in import DELTA, JSON, RESULT, TEXT, deep
from tests.kit.rounds import rounds
from tests.kit.server import get_session, make_session

USER = "odd"
"""A user whose state no other test writes."""


def ask(client, session: str, message: object, path: str = "/run", **more: object):
    names = {"appName": "summary", "userId": USER, "sessionId": session}
    body = json.dumps({**names, "newMessage": message, **more})
    return client.post(path, content=body, headers=JSON)


@settings(
    max_examples=rounds(12, 40),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(text=TEXT, result=RESULT, state=DELTA, labels=RESULT, name=TEXT, answers=st.booleans())
def test_a_run_stores_any_value_unchanged(
    client, text, result, state, labels, name, answers
) -> None:
    session_id = make_session(client, "summary", USER)["id"]
    response_part = {"functionResponse": {"name": name, "response": result}}
    parts = [response_part if answers else {"text": text}, {"partMetadata": result}]
    message = {"role": "user", "parts": parts}
    answer = ask(client, session_id, message, stateDelta=state, customMetadata=labels)
    assert answer.status_code == 200, answer.text
    session = get_session(client, "summary", session_id, USER)
    first = session["events"][0]
    assert (first["content"], first.get("customMetadata", {})) == (message, labels)
    assert (first["actions"]["stateDelta"], session["state"]) == (state, state)
    copy = {"sessionId": str(uuid.uuid4()), "events": session["events"]}
    sessions = f"/apps/summary/users/{USER}/sessions"
    response = client.post(sessions, content=json.dumps(copy), headers=JSON)
    assert response.json()["events"] == session["events"]


@pytest.mark.parametrize(("field", "most"), [("response", 251), ("state", 254), ("labels", 255)])
@pytest.mark.parametrize("more", [0, 1, 5, 400])
def test_a_value_nested_deeper_than_an_event_allows_is_refused(client, field, most, more) -> None:
    session_id = make_session(client, "summary", USER)["id"]
    fields = {"response": {}, "state": {}, "labels": {}, field: deep(most + more)}
    message = {"role": "user"}
    message["parts"] = [{"functionResponse": {"name": "f", "response": fields["response"]}}]
    answer = ask(
        client, session_id, message, stateDelta=fields["state"], customMetadata=fields["labels"]
    )
    session = get_session(client, "summary", session_id, USER)
    if more:
        assert (answer.status_code, session["events"]) == (422, [])
        [problem] = answer.json()["detail"]
        places = {"response": "newMessage", "state": "stateDelta", "labels": "customMetadata"}
        assert problem["loc"] in (["body", places[field]], ["body"])
        assert "nested deeper than" in problem["msg"]
        return
    assert answer.status_code == 200, answer.text
    first = session["events"][0]
    assert (first["content"], session["state"]) == (message, fields["state"])
    assert first.get("customMetadata", {}) == fields["labels"]
    assert ask(client, session_id, {"parts": [{"text": "again"}]}).status_code == 200


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ('"stateDelta":{"a":{"b":["\\ud800"]}}', ["stateDelta", "a", "b", 0]),
        ('"stateDelta":{"a":[1e999]}', ["stateDelta", "a", 0]),
        (f'"customMetadata":{{"a":{"9" * 5000}}}', ["customMetadata", "a"]),
        ('"stateDelta":{"\\u0000":1}', ["stateDelta", "\0", "[key]"]),
        ('"stateDelta":[]', ["stateDelta"]),
    ],
)
@pytest.mark.parametrize("path", ["/run", "/run_sse"])
def test_a_value_that_cannot_be_stored_is_refused_with_the_place(client, path, more, place) -> None:
    session_id = make_session(client, "summary", USER)["id"]
    body = {"appName": "summary", "userId": USER, "sessionId": session_id}
    body |= {"newMessage": {"parts": [{"text": "hello"}]}}
    text = f"{json.dumps(body)[:-1]},{more}}}"
    answer = client.post(path, content=text, headers=JSON)
    assert answer.status_code == 422, answer.text
    assert [each["loc"] for each in answer.json()["detail"]] == [["body", *place]]
    assert get_session(client, "summary", session_id, USER)["events"] == []


@pytest.mark.parametrize("role", ["robot", "model", "é" * 100])
def test_an_unknown_role_is_replaced_by_user_with_a_warning(client, role) -> None:
    session_id = make_session(client, "summary", USER)["id"]
    answer = ask(client, session_id, {"role": role, "parts": [{"text": "hello"}]})
    assert answer.headers["X-Devui-Warning"].startswith("ignored newMessage.role '")
    assert (
        get_session(client, "summary", session_id, USER)["events"][0]["content"]["role"] == "user"
    )


@pytest.mark.parametrize(
    "value", [10**30, {"k" * 400: "\0"}, deep(200)], ids=["int", "key", "deep"]
)
def test_the_pages_forms_take_the_same_values(client, value) -> None:
    origin = {"Origin": str(client.base_url).rstrip("/")}
    state = json.dumps({"a": value})
    answer = client.post("/apps/summary/sessions", data={"state": state}, headers=origin)
    assert answer.status_code == 303, answer.text
    key = answer.headers["location"].rpartition("/")[2]
    form = {"number": "0", "change": "state", "state": state}
    forked = client.post(f"/sessions/{key}/forks", data=form, headers=origin)
    assert forked.status_code == 303, forked.text
    for page in (answer, forked):
        query = {"key": page.headers["location"].rpartition("/")[2]}
        [row] = client.get("/api/sessions", params=query).json()["sessions"]
        assert get_session(client, "summary", row["id"], row["user"])["state"] == {"a": value}


def test_a_form_with_a_lone_surrogate_is_refused_with_the_place(client) -> None:
    origin = {"Origin": str(client.base_url).rstrip("/")}
    odd = {"state": r'{"a": ["\ud800"]}'}
    refused = client.post("/apps/summary/sessions", data=odd, headers=origin)
    assert (refused.status_code, "a.0: the text contains the lone" in refused.text) == (422, True)
