"""Sessions over ADK's REST API (adk-web 1.3)."""

import json

import pytest

from tests.kit.server import SAMPLES, get_session, make_session, run

BASE = "/apps/summary/users/u/sessions"


def test_the_apps_are_the_folders_with_an_agent(client):
    names = sorted(path.name for path in SAMPLES.iterdir() if (path / "agent.py").is_file())
    assert client.get("/list-apps").json() == names


def test_used_apps_are_described(client):
    run(client, "travel", make_session(client, "travel")["id"], "Hello")
    apps = client.get("/list-apps?detailed=true").json()["apps"]
    travel = next(app for app in apps if app["name"] == "travel")
    assert travel["rootAgentName"] == "TravelAgent"


def test_health_and_version_answer(client):
    assert client.get("/health").json() == {"status": "ok"}
    assert client.get("/version").json()["language"] == "python"


def test_a_session_has_adks_shape(client):
    session = make_session(client, "summary", session_id="shape", state={"a": 1, "user:b": [2]})
    assert session.pop("lastUpdateTime") > 1_700_000_000
    assert session == {
        "id": "shape",
        "appName": "summary",
        "userId": "u",
        "state": {"a": 1, "user:b": [2]},
        "events": [],
    }


def test_a_state_key_named_events_is_not_taken_for_the_events(client):
    state = {"events": [], "plan": {"events": []}}
    message = {"author": "summary", "content": {"parts": [{"text": "said"}]}}
    session = make_session(client, "summary", "apart", state=state, events=[message])
    assert session["state"] == state
    assert [event["author"] for event in session["events"]] == ["summary"]


@pytest.mark.parametrize("body", [None, {}, {"sessionId": None}, {"sessionId": "  "}])
def test_a_session_without_an_id_gets_one(client, body):
    answer = client.post(BASE, json=body) if body is not None else client.post(BASE)
    assert len(answer.json()["id"]) == 36


def test_a_taken_id_is_a_conflict(client):
    make_session(client, "summary", session_id="twice")
    answer = client.post(BASE, json={"session_id": "twice"})
    assert answer.status_code == 409
    assert "twice" in answer.json()["detail"]


def test_the_deprecated_endpoint_takes_id_from_path_and_state_from_body(client):
    path = "/apps/summary/users/old/sessions/named"
    session = client.post(path, json={"city": "Bern"}).json()
    assert (session["id"], session["state"]) == ("named", {"city": "Bern"})


def test_user_state_is_shared_by_the_users_sessions_only(client):
    make_session(client, "field_state", user="anna", state={"user:x": 1, "app:y": 2, "z": 3})
    assert make_session(client, "field_state", user="anna")["state"] == {"user:x": 1, "app:y": 2}
    assert make_session(client, "field_state", user="ben")["state"] == {"app:y": 2}


def test_temporary_state_is_never_stored(client):
    assert make_session(client, "summary", user="t", state={"temp:x": 1})["state"] == {}


def test_a_list_has_the_users_sessions_without_events(client):
    for name in ("one", "two"):
        make_session(client, "summary", user="lister", session_id=name)
    rows = client.get("/apps/summary/users/lister/sessions").json()
    assert [row["id"] for row in rows] == ["one", "two"]
    assert all(row["events"] == [] for row in rows)


def test_a_session_can_start_with_events(client):
    event = {"author": "user", "content": {"parts": [{"text": "Hi"}]}, "timestamp": 5.0}
    changed = {"author": "A", "actions": {"stateDelta": {"x": 1, "temp:y": 2}}}
    session = make_session(client, "summary", events=[event, changed])
    assert [e["author"] for e in session["events"]] == ["user", "A"]
    assert session["events"][0]["timestamp"] == 5.0
    assert (session["state"]["x"], "temp:y" in session["state"]) == (1, False)


def test_a_patch_changes_state_with_a_user_event(client):
    session = make_session(client, "summary", state={"a": 1})
    path = f"{BASE}/{session['id']}"
    after = client.patch(path, json={"stateDelta": {"a": 2, "temp:b": 3}}).json()
    assert after["state"]["a"] == 2
    [event] = after["events"]
    assert event["author"] == "user"
    assert event["invocationId"].startswith("p-")
    assert event["actions"]["stateDelta"] == {"a": 2}


@pytest.mark.req("R32")
def test_a_patch_with_an_outdated_etag_is_refused(client):
    path = f"{BASE}/{make_session(client, 'summary')['id']}"
    seen = client.get(path).headers["etag"]
    changes = [{"stateDelta": {"a": number}} for number in range(3)]
    assert client.patch(path, json=changes[0], headers={"If-Match": seen}).status_code == 200
    late = client.patch(path, json=changes[1], headers={"If-Match": seen})
    assert (late.status_code, late.json()["detail"]) == (
        409,
        "the session has come to event #1, and you had seen #0",
    )
    wrong = client.patch(path, json=changes[1], headers={"If-Match": '"x"'})
    assert wrong.status_code == 400
    now = client.get(path)
    assert (now.json()["state"]["a"], now.headers["etag"]) == (0, '"1"')
    for position in (now.headers["etag"], "*"):
        assert client.patch(path, json=changes[2], headers={"If-Match": position}).is_success


def test_deleting_a_session_twice_is_not_an_error(client):
    session = make_session(client, "summary")
    path = f"{BASE}/{session['id']}"
    for _ in range(2):
        answer = client.delete(path)
        assert (answer.status_code, answer.json()) == (200, None)
    assert client.get(path).status_code == 404


def test_a_missing_session_is_not_found(client):
    for method in ("GET", "PATCH"):
        answer = client.request(method, f"{BASE}/none", json={"stateDelta": {}})
        assert (answer.status_code, answer.json()) == (404, {"detail": "Session not found"})


@pytest.mark.req("R22")
@pytest.mark.parametrize(
    "app",
    [
        "nothing",
        "..",
        ".",
        "%2e%2e",
        "%2Fetc",
        "json",
        "Travel",
        "travel%00",
        "tr\u0430vel",
        "x" * 99,
    ],
)
def test_nothing_is_created_for_an_unknown_app(client, app):
    before = sorted(SAMPLES.iterdir())
    for method in ("GET", "POST"):
        answer = client.request(method, f"/apps/{app}/users/u/sessions")
        assert answer.status_code == 404
    assert sorted(SAMPLES.iterdir()) == before


@pytest.mark.req("R23")
@pytest.mark.parametrize("name", ["../../etc", "a/b", "a b", "…", "x" * 500, "'; DROP TABLE"])
def test_an_id_is_never_used_as_a_path(client, server, name):
    session = make_session(client, "summary", user="odd", session_id=name)
    assert session["id"] == name
    rows = client.get("/apps/summary/users/odd/sessions").json()
    assert name in [row["id"] for row in rows]
    assert {path.name.split(".")[0] for path in server.data.iterdir()} <= {"journal", "server", ""}


@pytest.mark.req("R26")
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"state": 5}', 422),
        (b'{"sessionId": 7}', 422),
        (b'{"events": [{"content": 1}]}', 422),
        (b'{"events": [5]}', 422),
        (b'{"events": [{"author": "A", "id": "1"}, {"author": "A", "id": "1"}]}', 400),
        (b'{"state": {"a": 1, "a": 2}}', 400),
        (b'{"state": {"a": "\\ud800"}}', 422),
        (b'{"state": ' + b"[" * 100 + b"]" * 100 + b"}", 422),
        (b"not json", 400),
    ],
)
def test_an_invalid_body_is_refused_and_creates_nothing(client, body, status):
    path = "/apps/summary/users/nobody/sessions"
    answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status, answer.text
    assert answer.json()["detail"]
    assert client.get(path).json() == []


ODD = [
    {"branch": 5},
    {"id": 5},
    {"invocationId": [1]},
    {"timestamp": "soon"},
    {"timestamp": -1},
    {"timestamp": 1e300},
    {"errorCode": [1]},
    {"errorMessage": {}},
    {"partial": 5},
    {"longRunningToolIds": 5},
    {"longRunningToolIds": [[1]]},
    {"content": {"parts": 5}},
    {"content": {"parts": [5]}},
    {"content": {"parts": [{"text": 5}]}},
    {"content": {"parts": [{"thought": [], "text": "x"}]}},
    {"content": {"parts": [{"functionCall": 5}]}},
    {"content": {"parts": [{"functionCall": {"id": [1]}}]}},
    {"content": {"parts": [{"functionCall": {"args": [1]}}]}},
    {"content": {"parts": [{"function_call": {"name": 1}}]}},
    {"content": {"parts": [{"functionResponse": {"id": {}}}]}},
    {"content": {"parts": [{"executableCode": 1}]}},
    {"content": {"parts": [{"inlineData": "x"}]}},
    {"actions": 5},
    {"actions": {"stateDelta": []}},
    {"actions": {"artifactDelta": {"a": "x"}}},
    {"actions": {"transferToAgent": {}}},
    {"actions": {"rewindBeforeInvocationId": [1]}},
    {"actions": {"requestedToolConfirmations": 5}},
    {"usageMetadata": {"totalTokenCount": "many"}},
    {"usageMetadata": 5},
]


@pytest.mark.req("R27")
@pytest.mark.req("R26")
@pytest.mark.parametrize("odd", ODD, ids=json.dumps)
def test_an_invalid_event_is_refused_and_creates_nothing(client, odd):
    path = "/apps/summary/users/nobody/sessions"
    answer = client.post(path, json={"events": [{"author": "A"}, {"author": "A", **odd}]})
    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"][0]["loc"][:3] == ["body", "events", 1]
    assert client.get(path).json() == []


@pytest.mark.req("R27")
def test_an_event_with_unstorable_state_creates_no_session(client):
    path = "/apps/summary/users/nobody/sessions"
    events = [{"author": "A"}, {"author": "A", "actions": {"stateDelta": {"a\0b": 1}}}]
    assert client.post(path, json={"events": events}).status_code == 400
    assert client.get(path).json() == []


@pytest.mark.req("R27")
def test_events_read_from_a_server_can_be_sent_back(client):
    session = make_session(client, "travel")
    run(client, "travel", session["id"], "Book a flight to London next Tuesday")
    events = get_session(client, "travel", session["id"])["events"]
    again = make_session(client, "travel", user="reader", events=events)
    assert again["events"] == events
    assert again["lastUpdateTime"] == events[-1]["timestamp"]


def test_an_events_members_may_be_in_camel_or_snake_case(client):
    raw = {"author": "A", "invocation_id": "i", "actions": {"state_delta": {"some_key": 1}}}
    [event] = make_session(client, "summary", events=[raw])["events"]
    assert event["invocationId"] == "i"
    assert event["actions"]["stateDelta"] == {"some_key": 1}


def test_a_long_session_is_complete_and_in_order(client):
    events = [
        {"author": "A", "id": str(i), "actions": {"stateDelta": {"n": i}}} for i in range(1200)
    ]
    session = make_session(client, "summary", user="long", events=events)
    whole = get_session(client, "summary", session["id"], user="long")
    assert [event["id"] for event in whole["events"]] == [str(i) for i in range(1200)]
    assert whole["state"]["n"] == 1199
    assert json.dumps(whole)
