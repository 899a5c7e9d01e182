"""Forks over HTTP: what a fork starts with, and how it continues."""

import html
import json
import re

import pytest

from tests.kit.cutoff import Clerk
from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import get_session, make_session, run, running

BOOK = "Book a flight to London next Tuesday"


@pytest.fixture
def travelled(client):
    """A session of the travel agent with one turn, as the API lists it."""
    session = make_session(client, "travel")["id"]
    run(client, "travel", session, BOOK)
    query = {"app": "travel", "user": "u", "id": session}
    return client.get("/api/sessions", params=query).json()["sessions"][0]


def fork(client, session, number, **more):
    answer = client.post(f"/api/sessions/{session['key']}/forks", json={"number": number, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def load(client, session):
    return get_session(client, "travel", session["id"])


def own(state):
    """The session's own keys; other tests of this server write to shared ones."""
    return {key: value for key, value in state.items() if ":" not in key}


def settle(client, run_id):
    position = client.get(f"/api/runs/{run_id}").json()
    while position["status"] in {"running", "stopping"}:
        assert position["position"] is not None, "one that is over has none, and no other"
        query = {"after": position["position"]}
        position = client.get(f"/api/runs/{run_id}", params=query).json()
    return position


def test_a_fork_has_the_events_and_the_state_up_to_its_number(client, travelled):
    whole = load(client, travelled)
    row = fork(client, travelled, 3, note="another city")
    child = load(client, row)
    assert child["events"] == whole["events"][:3]
    deltas = [event["actions"]["stateDelta"] for event in whole["events"][:3]]
    delta_sum = {key: value for delta in deltas for key, value in delta.items()}
    assert own(child["state"]) == own(delta_sum)
    assert load(client, travelled) == whole
    assert row["fork"]["parent"] == travelled["key"]
    assert (row["fork"]["number"], row["fork"]["note"]) == (3, "another city")
    assert row["run"] is None
    children = client.get(f"/api/sessions/{travelled['key']}/forks").json()
    assert [each["key"] for each in children["forks"]] == [row["key"]]
    second = fork(client, travelled, 1)
    assert [each["key"] for each in second["siblings"]] == [row["key"]]
    compared = client.get(f"/compare?left={travelled['key']}&right={row['key']}").text
    assert re.search(r"outcome.{0,400}>forked<", compared, re.DOTALL)


def test_a_fork_within_an_invocation_is_resumed_to_the_same_end(client, travelled):
    whole = load(client, travelled)
    row = fork(client, travelled, 3)
    stands = client.get(f"/api/sessions/{row['key']}/cutoff").json()
    assert stands["status"] == "forked"
    assert stands["invocationId"] == whole["events"][0]["invocationId"]
    body = {"invocationId": stands["invocationId"]}
    answer = client.post(f"/api/sessions/{row['key']}/runs", json=body)
    assert answer.status_code == 201, answer.text
    assert settle(client, answer.json()["run"])["status"] == "done"
    child = load(client, row)
    assert child["events"][-1]["content"] == whole["events"][-1]["content"]
    assert {e["invocationId"] for e in child["events"]} == {stands["invocationId"]}


@pytest.fixture
def careful(client):
    """Marks the search for airports as a tool with effects."""
    tool = "/api/apps/travel/tools/find_airports"
    client.put(tool, json={"effect": "effects"})
    yield
    client.put(tool, json={"effect": None})


@pytest.mark.usefixtures("careful")
def test_a_fork_at_a_call_offers_its_recorded_result(client, travelled):
    whole = load(client, travelled)
    number = next(
        n
        for n, event in enumerate(whole["events"], 1)
        if any("functionCall" in part for part in event.get("content", {}).get("parts", []))
    )
    row = fork(client, travelled, number, run=True)
    assert row["run"] is None
    [call] = row["unknown"]
    assert (call["default"], call["needsDecision"]) == ("recorded", True)
    page = client.get(f"/sessions/{row['key']}", headers={"Accept": "text/html"}).text
    assert ("no result before the fork" in page, ">no result<" in page) == (True, False)
    body = {
        "invocationId": row["fork"]["invocationId"],
        "unknown": {call["id"]: {"do": "recorded"}},
    }
    answer = client.post(f"/api/sessions/{row['key']}/runs", json=body)
    settle(client, answer.json()["run"])
    after = load(client, row)["events"][number]
    expected = whole["events"][number]
    assert after["actions"]["stateDelta"] == expected["actions"]["stateDelta"] == call["writes"]
    assert after["content"]["parts"][0]["functionResponse"]["response"] == call["recorded"]
    assert (
        after["content"]["parts"][0]["functionResponse"]["id"]
        == (expected["content"]["parts"][0]["functionResponse"]["id"])
    )


def test_a_fork_with_an_edited_message_continues_its_invocation(client, travelled):
    event = load(client, travelled)["events"][0]
    event["content"]["parts"][0]["text"] = "Which airports does Paris have?"
    row = fork(client, travelled, 1, event=event)
    assert row["fork"]["invocationId"] == event["invocationId"]
    assert client.get(f"/api/sessions/{row['key']}/cutoff").json()["status"] == "forked"
    again = fork(client, row, 1, run=True)
    assert settle(client, again["run"])["status"] == "done"
    last = load(client, again)["events"][-1]
    assert "CDG" in last["content"]["parts"][0]["text"]


def test_a_fork_runs_only_if_its_invocation_is_incomplete(client, tmp_path):
    clerk = Clerk(tmp_path / "agents")
    clerk.will_finish()
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as own:
        debugged = DebuggedRun(own, "clerk").start("look around", pause=False)
        debugged.settled()
        row = own.post(
            f"/api/sessions/{debugged.key}/forks", json={"number": 2, "run": True}
        ).json()
        assert settle(own, row["run"])["status"] == "done"
        assert clerk.ledger == ["look here", "look here"]
        over = {"number": len(debugged.kept()["events"]), "run": True}
        whole = own.post(f"/api/sessions/{debugged.key}/forks", json=over).json()
        assert whole["run"] is None
        assert "send it a message" in whole["detail"]


def test_editing_state_adds_an_event_to_the_fork_only(client, travelled):
    whole = load(client, travelled)
    row = fork(client, travelled, 3, state={"city": "Rome", "user:home": "Oslo"}, actor="Ada")
    child = load(client, row)
    assert (child["state"]["city"], child["state"]["user:home"]) == ("Rome", "Oslo")
    assert len(child["events"]) == 4
    [mark] = child["events"][-1]["customMetadata"]["devui_edited"]
    assert (mark["gate"], mark["by"]) == ("fork", "Ada")
    assert load(client, travelled) == whole
    assert "user:home" not in make_session(client, "travel")["state"]


def test_an_edited_last_event_keeps_its_id_time_and_author(client, travelled):
    whole = load(client, travelled)
    event = json.loads(json.dumps(whole["events"][2]))
    event["actions"]["stateDelta"] = {"city": "Rome"}
    event["author"] = "somebody"
    row = fork(client, travelled, 3, event=event)
    child = load(client, row)
    assert child["state"]["city"] == "Rome"
    edited, before = child["events"][2], whole["events"][2]
    for name in ("id", "invocationId", "timestamp", "author"):
        assert edited[name] == before[name]
    assert edited["customMetadata"]["devui_edited"][0]["action"] == "edit"


def test_the_row_of_a_result_edited_in_a_fork_starts_with_the_change(client, travelled):
    event = json.loads(json.dumps(load(client, travelled)["events"][2]))
    event["content"]["parts"][0]["functionResponse"]["response"]["result"][2] = "ZRH"
    row = fork(client, travelled, 3, event=event)
    page = html.unescape(client.get(f"/sessions/{row['key']}").text)
    assert '</span>[2] "STN" → "ZRH" · ["LHR", "LGW", "ZRH"]</span>' in page


def test_a_fork_before_a_message_offers_it_for_editing(client, travelled):
    row = fork(client, travelled, 1, message=True)
    assert (row["events"], row["fork"]["reason"]) == (0, "message")
    page = client.get(f"/sessions/{row['key']}", headers={"Accept": "text/html"}).text
    assert f">{BOOK}</textarea>" in page
    assert "not run yet" in page
    again = fork(client, travelled, 1, message=True, run=True)
    assert settle(client, again["run"])["status"] == "done"
    assert load(client, again)["events"][0]["content"]["parts"] == [{"text": BOOK}]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"number": 99}, 404, "no event #99"),
        ({"number": 2, "message": True}, 422, "isn't a user message"),
        ({"number": 2, "message": True, "state": {}}, 422, "can change only one of"),
        ({"number": 0, "event": {"author": "a"}}, 404, "no event #0"),
    ],
)
def test_an_invalid_fork_is_refused(client, travelled, body, status, words):
    answer = client.post(f"/api/sessions/{travelled['key']}/forks", json=body)
    assert (answer.status_code, words in answer.text) == (status, True), answer.text


def test_a_fork_of_a_session_with_a_run_has_the_committed_events(client):
    debugged = DebuggedRun(client, "travel").start(BOOK)
    debugged.settled()
    debugged.tell("run_to", like={"gate": "after_commit", "kind": "call"})
    events = debugged.kept()["events"]
    row = fork(client, {"key": debugged.key}, len(events))
    assert load(client, row)["events"] == events
    assert debugged.tell("continue")["status"] == "done"


def test_a_session_is_rewound_and_another_message_sent(client, travelled):
    whole = load(client, travelled)
    body = {"number": 2}
    answer = client.post(f"/api/sessions/{travelled['key']}/rewind", json=body)
    assert answer.status_code == 201, answer.text
    assert settle(client, answer.json()["run"])["status"] == "done"
    back = load(client, travelled)
    assert back["events"][:-1] == whole["events"]
    invocation = whole["events"][0]["invocationId"]
    assert back["events"][-1]["actions"]["rewindBeforeInvocationId"] == invocation
    assert not [key for key, value in own(back["state"]).items() if value is not None]
    for query, marked in [({}, True), ({"at": len(whole["events"])}, False)]:
        query |= {"first": 1, "last": 10**9, "skip": 0, "limit": 100}
        rows = client.get(f"/sessions/{travelled['key']}/rows", params=query).text
        assert ("flag taken-back" in rows) is marked
    file = client.get(f"/api/sessions/{travelled['key']}/export", params={"format": "html"}).text
    marked = [part.count("flag taken-back") for part in file.split('<section class="detail')[1:]]
    assert marked[:-1] == [1] * len(whole["events"]) + [0]
    run(client, "travel", travelled["id"], BOOK)
    again = load(client, travelled)["events"][len(back["events"])]["invocationId"]
    body = {"invocationId": again, "message": "Book a flight to London next Monday"}
    answer = client.post(f"/api/sessions/{travelled['key']}/rewind", json=body)
    rival = {"message": "I was quicker"}
    client.post(f"/api/sessions/{travelled['key']}/runs", json=rival)  # refused, or committed later
    rewinding = settle(client, answer.json()["run"])["run"]
    newest = rewinding
    while newest == rewinding:  # the new message is sent in a run of its own
        newest = client.get(f"/api/sessions/{travelled['key']}/run").json()["run"]
    assert settle(client, newest)["status"] == "done"
    texts = [
        part.get("text")
        for event in load(client, travelled)["events"]
        for part in event.get("content", {}).get("parts", [])
        if event["author"] == "user"
    ]
    assert [text for text in texts if text != rival["message"]] == [BOOK, BOOK, body["message"]]
    assert rival["message"] not in texts[:3]


def test_a_rewind_to_a_missing_event_is_refused(client, travelled):
    url = f"/api/sessions/{travelled['key']}/rewind"
    assert client.post(url, json={"invocationId": "e-none"}).status_code == 404
    assert client.post(url, json={"number": 99}).status_code == 404
    assert client.post(url, json={}).status_code == 422


def test_a_calls_arguments_are_edited_as_fields_in_a_fork(client, travelled):
    event = load(client, travelled)["events"][1]
    place, call = next(
        (place, part["functionCall"])
        for place, part in enumerate(event["content"]["parts"])
        if "functionCall" in part
    )
    path = f"/sessions/{travelled['key']}"
    page = client.get(f"{path}?event=2", headers={"Accept": "text/html"}).text
    assert f"Arguments of {call['name']}" in page
    form = {"number": 2, "change": "fields", f"part{place}.city": "Paris"}
    answer = client.post(f"{path}/forks", data=form, headers={"HX-Request": "true"})
    assert answer.status_code == 204, answer.text
    key = answer.headers["HX-Redirect"].rpartition("/")[2]
    sessions = client.get("/api/sessions", params={"app": "travel", "user": "u"}).json()["sessions"]
    row = next(each for each in sessions if str(each["key"]) == key)
    edited = load(client, row)["events"][-1]["content"]["parts"]
    assert edited[place]["functionCall"] == {**call, "args": {"city": "Paris"}}
    assert edited[:place] == event["content"]["parts"][:place]
