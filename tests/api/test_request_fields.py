"""Every field of ADK's requests is honoured, and one that nobody knows is named (adk-web 1.5)."""

import threading

import pytest

from tests.kit.server import get_session, make_session, run_body, running, write_app

AGENT = """
from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm

def settings(tool_context) -> dict:
    config = tool_context.run_config
    return {"metadata": config.custom_metadata, "tier": config.service_tier}

rules = [Rule(after="settings", then=Say("done")), Rule(then=Call("settings"))]
root_agent = Agent(name="root", model=ScriptedLlm(rules=rules), tools=[settings])
"""
LABELS = {"tenant": "t1", "nested": {"a": [1, None]}}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fields")
    write_app(folder / "agents", "app", AGENT)
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        yield client


def post(client, route: str, **more):
    session = make_session(client, "app")["id"]
    answer = client.post(route, json=run_body("app", session, "Hi", **more))
    assert answer.status_code == 200, answer.text
    return answer, get_session(client, "app", session)["events"]


@pytest.mark.parametrize("route", ["/run", "/run_sse"])
@pytest.mark.parametrize(
    "names", [("customMetadata", "serviceTier"), ("custom_metadata", "service_tier")]
)
def test_metadata_and_tier_reach_the_agent_and_every_event(client, route, names):
    metadata, tier = names
    answer, events = post(client, route, **{metadata: LABELS, tier: "flex"})
    assert [event["customMetadata"] for event in events] == [LABELS] * 4
    assert events[0]["author"] == "user"
    response = events[2]["content"]["parts"][0]["functionResponse"]["response"]
    assert response == {"metadata": LABELS, "tier": "flex"}
    assert "X-Devui-Warning" not in answer.headers


def test_a_replay_has_the_metadata_of_its_run(client):
    session = make_session(client, "app")["id"]
    client.post("/run", json=run_body("app", session, "Hi", customMetadata=LABELS))
    query = {"app": "app", "user": "u", "id": session}
    [row] = client.get("/api/sessions", params=query).json()["sessions"]
    replay = client.post(f"/api/sessions/{row['key']}/replays", json={}).json()["run"]
    while (verdict := client.get(f"/api/runs/{replay}/replay").json()["verdict"]) is None:
        threading.Event().wait(0.05)
    assert verdict["identical"], verdict


@pytest.mark.parametrize("route", ["/run", "/run_sse"])
@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("customMetaData", "ignored unknown fields: customMetaData (did you mean customMetadata?)"),
        ("stateDelt", "ignored unknown fields: stateDelt (did you mean stateDelta?)"),
        ("x\r\nSet-Cookie: ü", r"ignored unknown fields: x\r\nSet-Cookie: \xfc"),
    ],
)
def test_an_unknown_field_is_named_in_a_header(client, route, field, words):
    answer, events = post(client, route, **{field: {"a": 1}})
    assert answer.headers["X-Devui-Warning"] == words
    assert len(events) == 4


def test_fields_of_other_requests_that_are_not_used_are_named(client):
    at = "/apps/app/users/u/sessions"
    answer = client.post(at, json={"sessionId": "named", "options": {"ttl": 3}})
    assert answer.headers["X-Devui-Warning"].startswith("ignored options: ")
    changed = client.patch(f"{at}/named", json={"stateDelta": {"a": 1}, "force": True})
    assert changed.headers["X-Devui-Warning"] == "ignored unknown fields: force"
    assert changed.json()["state"] == {"a": 1}
    file = {"filename": "a.txt", "artifact": {"text": "x"}, "mimeType": "text/plain"}
    upload = client.post(f"{at}/named/artifacts", json=file)
    assert upload.headers["X-Devui-Warning"] == "ignored unknown fields: mimeType"


def test_streaming_is_named_where_nothing_streams(client):
    answer, events = post(client, "/run", streaming=True)
    assert answer.headers["X-Devui-Warning"].startswith("ignored streaming: use /run_sse")
    assert len(events) == 4
    assert "X-Devui-Warning" not in post(client, "/run_sse", streaming=True)[0].headers


def test_many_unknown_fields_are_counted(client):
    answer, _ = post(client, "/run", **{f"zz{number}": 1 for number in range(20)})
    assert answer.headers["X-Devui-Warning"].endswith("zz7; and 12 more")


def test_a_deferred_run_that_streams_is_refused_before_it_begins(client):
    session = make_session(client, "app")["id"]
    body = run_body("app", session, "Hi", serviceTier="deferred", streaming=True)
    assert client.post("/run_sse", json=body).status_code == 422
    assert get_session(client, "app", session)["events"] == []


def test_a_member_that_a_new_session_does_not_know_is_named(client):
    answer = client.post("/apps/app/users/u/sessions", json={"stat": {"n": 1}})
    assert (answer.status_code, answer.json()["state"]) == (200, {})
    assert "stat (did you mean state?)" in answer.headers["X-Devui-Warning"]
