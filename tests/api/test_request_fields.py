"""Every field of ADK's requests is honoured; unknown ones are reported (adk-web 1.5)."""

import threading

import pytest

from tests.kit.patience import wait_until
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
ASKING = """
from devui.runtime.agents import Agent
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import FunctionTool, read_only

@read_only
def settings(tool_context) -> dict:
    config = tool_context.run_config
    return {"metadata": config.custom_metadata, "tier": config.service_tier}

rules = [Rule(after="settings", then=Say("done")), Rule(then=Call("settings"))]
tools = [FunctionTool(settings, require_confirmation=CONFIRMS)]
root_agent = Agent(name="root", model=ScriptedLlm(rules=rules), tools=tools)
resumable = ResumabilityConfig(is_resumable=True)
app = App(name="APP", root_agent=root_agent, resumability_config=resumable)
"""
LABELS = {"tenant": "t1", "nested": {"a": [1, None]}}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fields")
    write_app(folder / "agents", "app", AGENT)
    for name, confirms in (("asking", "True"), ("resumable", "False")):
        code = ASKING.replace("APP", name).replace("CONFIRMS", confirms)
        write_app(folder / "agents", name, code)
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        client.headers["Origin"] = server.url
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
def test_metadata_and_tier_reach_the_agent_and_metadata_its_events(client, route, names):
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


def deferred(client, app: str):
    """The row of a session with a run that has labels and the deferred tier."""
    session = make_session(client, app)["id"]
    body = run_body(app, session, "Hi", customMetadata=LABELS, serviceTier="deferred")
    assert client.post("/run", json=body).status_code == 200
    query = {"app": app, "user": "u", "id": session}
    [row] = client.get("/api/sessions", params=query).json()["sessions"]
    return row


def goes_on_like_it_began(client, app: str, row, after: int) -> None:
    """Check that the events after `after` have the labels, and the tool that ran there the tier."""
    path = f"/api/sessions/{row['key']}/run"
    wait_until(lambda: client.get(path).json()["status"] not in ("running", "stopping"))
    events = get_session(client, app, row["id"])["events"][after:]
    for event in events:
        assert LABELS.items() <= event["customMetadata"].items()
    parts = [part for event in events for part in event.get("content", {}).get("parts", [])]
    [response] = [part["functionResponse"] for part in parts if "functionResponse" in part][-1:]
    assert response["response"] == {"metadata": LABELS, "tier": "deferred"}
    assert parts[-1]["text"] == "done"


def test_an_answered_run_keeps_the_metadata_and_tier_of_the_question(client):
    row = deferred(client, "asking")
    path = f"/api/sessions/{row['key']}"
    [question] = client.get(f"{path}/questions").json()["questions"]
    fields = {"choice": question["choices"][0]["value"]}
    body = {"event": question["event"], "call": question["call"], "fields": fields}
    assert client.post(f"{path}/answers", json=body).status_code == 201
    goes_on_like_it_began(client, "asking", row, question["event"])


@pytest.mark.parametrize("way", ["fork", "page", "api"])
def test_a_resumed_run_keeps_its_metadata_and_tier(client, way):
    row = deferred(client, "resumable")
    body = {"number": 2, "run": way == "fork"}
    fork = client.post(f"/api/sessions/{row['key']}/forks", json=body).json()
    invocation = fork["fork"]["invocationId"]
    if way == "page":
        answer = client.post(f"/sessions/{fork['key']}/runs", data={"invocation": invocation})
        assert answer.status_code == 303, answer.text
    elif way == "api":
        body = {"invocationId": invocation}
        answer = client.post(f"/api/sessions/{fork['key']}/runs", json=body)
        assert answer.status_code == 201, answer.text
    goes_on_like_it_began(client, "resumable", fork, 2)


@pytest.mark.parametrize("route", ["/run", "/run_sse"])
@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("customMetaData", "ignored unknown fields: customMetaData (did you mean customMetadata?)"),
        ("stateDelt", "ignored unknown fields: stateDelt (did you mean stateDelta?)"),
        ("x\r\nSet-Cookie: ü", r"ignored unknown fields: x\r\nSet-Cookie: \xfc"),
    ],
)
def test_an_unknown_field_is_reported_in_a_header(client, route, field, words):
    answer, events = post(client, route, **{field: {"a": 1}})
    assert answer.headers["X-Devui-Warning"] == words
    assert len(events) == 4


def test_unused_fields_of_other_requests_are_reported(client):
    at = "/apps/app/users/u/sessions"
    answer = client.post(at, json={"sessionId": "named", "options": {"ttl": 3}})
    assert answer.headers["X-Devui-Warning"].startswith("ignored options: ")
    changed = client.patch(f"{at}/named", json={"stateDelta": {"a": 1}, "force": True})
    assert changed.headers["X-Devui-Warning"] == "ignored unknown fields: force"
    assert changed.json()["state"] == {"a": 1}
    file = {"filename": "a.txt", "artifact": {"text": "x"}, "mimeType": "text/plain"}
    upload = client.post(f"{at}/named/artifacts", json=file)
    assert upload.headers["X-Devui-Warning"] == "ignored unknown fields: mimeType"


def test_run_reports_that_it_ignores_streaming(client):
    answer, events = post(client, "/run", streaming=True)
    assert answer.headers["X-Devui-Warning"].startswith("ignored streaming: use /run_sse")
    assert len(events) == 4
    assert "X-Devui-Warning" not in post(client, "/run_sse", streaming=True)[0].headers


def test_many_unknown_fields_are_counted(client):
    answer, _ = post(client, "/run", **{f"zz{number}": 1 for number in range(20)})
    assert answer.headers["X-Devui-Warning"].endswith("zz7; and 12 more")


def test_a_deferred_run_with_streaming_is_refused_before_it_starts(client):
    session = make_session(client, "app")["id"]
    body = run_body("app", session, "Hi", serviceTier="deferred", streaming=True)
    assert client.post("/run_sse", json=body).status_code == 422
    assert get_session(client, "app", session)["events"] == []


def test_an_unknown_field_of_a_new_session_is_reported(client):
    answer = client.post("/apps/app/users/u/sessions", json={"stat": {"n": 1}})
    assert (answer.status_code, answer.json()["state"]) == (200, {})
    assert "stat (did you mean state?)" in answer.headers["X-Devui-Warning"]
