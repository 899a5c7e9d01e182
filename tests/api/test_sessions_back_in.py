"""POST accepts what GET returns: any session of an agent, over ADK's API and as a file."""

import json
import uuid

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kit.rounds import rounds
from tests.kit.server import SAMPLES, running
from tests.kit.terminal import devui

JSON = {"content-type": "application/json"}
BASE = "/apps/summary/users"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.just("k" * 400)
NAME = TEXT.map(lambda text: text.replace("\0", ""))
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**40), 10**40) | FLOATS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


def deep(levels):
    value = "bottom"
    for _ in range(levels):
        value = {"in": value}
    return value


RESULT = st.dictionaries(TEXT, VALUE | st.integers(1, 240).map(deep), max_size=3)
DELTA = st.dictionaries(NAME.filter(lambda key: ":" not in key), VALUE, max_size=3)
EVENT = st.tuples(RESULT, DELTA, TEXT)


def event(number, result, delta, text):
    call = {"id": f"c{number}", "name": "look_up"}
    parts = [{"text": text}, {"functionResponse": {**call, "response": result}}]
    return {
        "id": f"e{number}",
        "invocationId": "i",
        "author": "summary",
        "timestamp": 1_750_000_000.25 + number,
        "content": {"role": "user", "parts": parts},
        "actions": {"stateDelta": delta, "artifactDelta": {}},
    }


def post(client, user, body):
    return client.post(f"{BASE}/{user}/sessions", content=json.dumps(body), headers=JSON)


@settings(
    max_examples=rounds(12, 40),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(state=DELTA, events=st.lists(EVENT, max_size=3))
def test_post_and_import_accept_any_session_that_get_returns(client, state, events) -> None:
    first = [event(number, *each) for number, each in enumerate(events)]
    name = uuid.uuid4().hex
    answer = post(client, "first", {"sessionId": name, "state": state, "events": first})
    assert answer.status_code == 200, answer.text
    session = client.get(f"{BASE}/first/sessions/{name}").json()
    assert [each["content"] for each in session["events"]] == [each["content"] for each in first]
    body = {"sessionId": name, "state": session["state"], "events": session["events"]}
    assert post(client, "again", body).status_code == 200
    file = {**session, "userId": "file"}
    copy = client.post("/api/sessions/import", content=json.dumps(file), headers=JSON)
    assert copy.status_code == 201, copy.text
    bundle = client.get(f"/api/sessions/{copy.json()['key']}/export?secrets=keep")
    assert client.post("/api/sessions/import", content=bundle.content, headers=JSON).is_success
    for user in ("again", "file"):
        back = client.get(f"{BASE}/{user}/sessions/{name}").json()
        assert (back["events"], back["state"]) == (session["events"], session["state"])
    assert client.get(f"/sessions/{copy.json()['key']}").status_code == 200


def test_a_result_of_13_mb_is_read_and_sent_back(client) -> None:
    large = event(1, {"rows": "x" * 13_000_000}, {}, "")
    name = uuid.uuid4().hex
    two = [large, {**large, "id": "e2"}]
    assert post(client, "large", {"sessionId": name, "events": two}).status_code == 200
    session = client.get(f"{BASE}/large/sessions/{name}").json()
    assert post(client, "larger", {"sessionId": name, "events": session["events"]}).is_success


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"state": {"a": ["\ud800"]}}, ["body", "state", "a", 0]),
        ({"events": [event(1, {"r": "\udfff"}, {}, "")]}, None),
    ],
)
def test_a_lone_surrogate_is_refused_with_the_place(client, body, place) -> None:
    answer = post(client, "halves", body)
    assert answer.status_code == 422
    [problem] = answer.json()["detail"]
    expected = ["body", "events", 0, "content", "parts", 1, "functionResponse", "response", "r"]
    assert problem["loc"] == (place or expected)
    assert client.get(f"{BASE}/halves/sessions").json() == []


EXPORTED = {
    "id": "x1",
    "appName": "summary",
    "userId": "ann",
    "state": {"a": 1},
    "events": [event(1, {"ok": True}, {"b": 2}, "hi")],
    "lastUpdateTime": 1_750_000_000,
}
"""A session file as `adk web` writes it."""


def test_a_session_exported_by_adk_web_is_imported_and_can_continue(tmp_path) -> None:
    (tmp_path / "session.json").write_text(json.dumps(EXPORTED, indent=2))
    here = ("--data-dir", str(tmp_path / "data"), "--agents", str(SAMPLES))
    done = devui("import", "session.json", *here, cwd=tmp_path)
    assert "session 1 of summary, 1 event\n" in done.stdout, done.stderr
    with running(SAMPLES, tmp_path / "data") as server, server.client() as client:
        path = "/apps/summary/users/ann/sessions/x1"
        session = client.get(path).json()
        assert (session["state"], session["id"]) == ({"a": 1, "b": 2}, "x1")
        assert [each["timestamp"] for each in session["events"]] == [1_750_000_001.25]
        assert client.patch(path, json={"stateDelta": {"c": 3}}).status_code == 200
        again = {"file": ("session.json", json.dumps(EXPORTED), "application/json")}
        assert (
            client.post("/import", files=again, headers={"Origin": server.url}).status_code == 409
        )
        ben = {"file": ("s.json", json.dumps({**EXPORTED, "userId": "ben"}), "application/json")}
        assert client.post("/import", files=ben, headers={"Origin": server.url}).status_code == 303
        files = {"file": ("s.json", json.dumps({**EXPORTED, "events": [7]}), "application/json")}
        refused = client.post("/import", files=files, headers={"Origin": server.url})
        assert (refused.status_code, "s.json: events.0" in refused.text) == (422, True)


def session_with(client, name):
    sessions = client.get("/api/sessions").json()["sessions"]
    return next(session for session in sessions if session["id"] == name)


SAID = {"author": "user", "content": {"role": "user", "parts": [{"text": "Hotels\nin *Rome*"}]}}


def test_a_session_created_with_events_is_titled_and_has_not_run_here(
    client,
) -> None:
    answer = event(2, {}, {}, "The Ritz")
    body = {"sessionId": "came", "events": [SAID, answer]}
    client.post("/apps/summary/users/ann/sessions", json=body).raise_for_status()
    session = session_with(client, "came")
    assert session["title"] == "Hotels in Rome"
    status = '<i class="shape"></i>not run here</span>'
    assert status in client.get(f"/sessions/{session['key']}").text
    assert "not run here" in client.get("/apps/summary?q=Hotels+in+Rome").text
    made = {"sessionId": "state", "state": {"a": 1}}
    client.post("/apps/summary/users/ann/sessions", json=made).raise_for_status()
    path = "/apps/summary/users/ann/sessions/state"
    client.patch(path, json={"stateDelta": {"b": 2}}).raise_for_status()
    other = session_with(client, "state")
    page = client.get(f"/sessions/{other['key']}").text
    assert (other["title"], "not run yet" in page, status in page) == (None, True, False)


MISFITS = [
    ({"text": 7}, "text"),
    ({"newKind": {"a": 1}}, "newKind"),
    ({"text": "x", "foo": 1}, "foo"),
    ({"inlineData": {"data": "%%%", "mimeType": "a/b"}}, "inlineData.data"),
    ({"inlineData": {"data": "aGk=", "size": 2}}, "inlineData.size"),
    ({"fileData": {"fileUri": 7}}, "fileData.fileUri"),
    ({"executableCode": {"code": [1]}}, "executableCode.code"),
    ({"codeExecutionResult": "done"}, "codeExecutionResult"),
    ({"functionCall": {"name": "f", "args": 7}}, "functionCall.args"),
    ({"functionCall": {"name": "f", "arguments": {}}}, "functionCall.arguments"),
    ({"functionResponse": {"parts": [{"blob": {}}]}}, "functionResponse.parts.0.blob"),
    ({"videoMetadata": {"fps": "fast"}}, "videoMetadata.fps"),
    ({"thoughtSignature": "%"}, "thoughtSignature"),
    (7, ""),
]


@pytest.mark.parametrize(("part", "place"), MISFITS)
def test_an_invalid_part_is_refused_and_nothing_is_stored(client, part, place) -> None:
    whole = event(1, {}, {}, "")
    broken = {**whole, "id": "e2", "content": {"role": "model", "parts": [{"text": "x"}, part]}}
    steps = [int(each) if each.isdecimal() else each for each in place.split(".") if each]
    where = ["content", "parts", 1, *steps]
    name = uuid.uuid4().hex
    answer = post(client, name, {"sessionId": name, "events": [whole, broken]})
    assert answer.status_code == 422, answer.text
    assert [each["loc"] for each in answer.json()["detail"]] == [["body", "events", 1, *where]]
    retry = post(client, name, {"sessionId": name, "events": [whole]})
    assert retry.status_code == 200, retry.text
    [row] = client.get("/api/sessions", params={"app": "summary", "user": name}).json()["sessions"]
    file = {"id": "other", "appName": "summary", "userId": name, "events": [broken]}
    for path, body in [
        ("/api/sessions/import", file),
        (f"/api/sessions/{row['key']}/forks", {"number": 1, "event": broken}),
    ]:
        refused = client.post(path, content=json.dumps(body), headers=JSON)
        assert refused.status_code == 422, (path, refused.text)
        detail = refused.json()["detail"]
        location = detail if isinstance(detail, str) else ".".join(map(str, detail[0]["loc"]))
        assert ".".join(map(str, where)) in location, path
    assert [each["id"] for each in client.get(f"{BASE}/{name}/sessions").json()] == [name]
