"""`/run` and `/run_sse` (adk-web 1.5)."""

import json
import subprocess

import pytest

from tests.kit.frames import frames
from tests.kit.server import (
    SAMPLES,
    TOKEN,
    get_session,
    make_session,
    run,
    run_body,
    running,
    write_app,
)
from tests.kit.slow_summary import SUMMARIZE, write_lingering

SILENCE = ":\n\n"
"""The comment sent while nothing happens; here, while a slow machine starts the worker."""
PROMPT = "Book a flight to London next Tuesday"


def test_run_returns_every_event_except_the_users(client):
    session = make_session(client, "travel")
    events = client.post("/run", json=run_body("travel", session["id"], PROMPT)).json()
    assert {event["author"] for event in events} == {"TravelAgent"}
    final = get_session(client, "travel", session["id"])
    assert final["events"][0]["content"]["parts"] == [{"text": PROMPT}]
    assert final["events"][1:] == events


def test_state_user_state_and_artifacts_are_in_the_session_afterwards(client):
    session = make_session(client, "travel", state={"user:home_airport": "GVA"})
    run(client, "travel", session["id"], PROMPT)
    final = get_session(client, "travel", session["id"])
    assert final["state"]["city"] == "London"
    assert final["state"]["user:home_airport"] == "GVA"
    assert not [key for key in final["state"] if key.startswith("temp:")]
    deltas = [event["actions"]["artifactDelta"] for event in final["events"]]
    assert {"itinerary.txt": 0} in deltas


def test_each_frame_is_a_single_data_line(client):
    session = make_session(client, "summary")
    body = run_body("summary", session["id"], "Summarize the document", streaming=True)
    with client.stream("POST", "/run_sse", json=body) as answer:
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        raw = b"".join(answer.iter_raw()).decode().removeprefix(SILENCE)
    pieces = raw.split("\n\n")
    assert pieces.pop() == ""
    assert all(piece.startswith("data: {") and "\n" not in piece for piece in pieces)
    assert all(json.loads(piece.removeprefix("data: ")) for piece in pieces)


def test_streamed_fragments_and_the_whole_answer_share_an_id(client):
    session = make_session(client, "summary")
    events = run(client, "summary", session["id"], "Summarize the document", streaming=True)
    *partials, whole = events
    assert len(partials) >= 30
    assert all(event["partial"] for event in partials)
    assert not whole.get("partial")
    assert {event["id"] for event in events} == {whole["id"]}
    text = "".join(event["content"]["parts"][0]["text"] for event in partials)
    assert whole["content"]["parts"][0]["text"] == text


def test_a_run_without_streaming_has_no_fragments(client):
    session = make_session(client, "summary")
    events = run(client, "summary", session["id"], "Summarize the document")
    assert [event.get("partial") for event in events] == [None]


def test_an_artifact_has_a_frame_of_its_own(client):
    session = make_session(client, "travel")
    events = run(client, "travel", session["id"], PROMPT)
    with_artifacts = [event for event in events if event["actions"]["artifactDelta"]]
    assert with_artifacts
    assert all("content" not in event for event in with_artifacts)


def test_an_agents_exception_ends_the_stream_with_an_error_frame(client):
    session = make_session(client, "faulty")
    *_, last = run(client, "faulty", session["id"], "Exit the process")
    assert last["error"] == "SystemExit: 3"
    assert last["error_details"]["error_type"] == "SystemExit"


def test_the_runs_of_one_session_follow_each_other(client):
    session = make_session(client, "travel")
    run(client, "travel", session["id"], PROMPT)
    events = run(client, "travel", session["id"], "Book it")
    assert [e["author"] for e in events][-1] == "BookingAgent"
    history = get_session(client, "travel", session["id"])["events"]
    assert len({event["invocationId"] for event in history}) == 2


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"sessionId": "nobody"}, 404, "Session not found: nobody"),
        ({"appName": "nothing"}, 404, "nothing"),
        ({"appName": None}, 400, "app_name is required"),
        ({"userId": 5}, 422, "valid string"),
        ({"newMessage": "hello"}, 422, "newMessage"),
        ({"newMessage": {"parts": [{"text": 5}]}}, 422, "valid string"),
        ({"streaming": "perhaps"}, 422, "boolean"),
    ],
)
def test_a_bad_request_says_what_is_wrong(client, change, status, words):
    session = make_session(client, "summary")
    for path in ("/run", "/run_sse"):
        answer = client.post(path, json={**run_body("summary", session["id"], "Hi"), **change})
        assert answer.status_code == status, answer.text
        assert words in json.dumps(answer.json()["detail"])
    assert get_session(client, "summary", session["id"])["events"] == []


def test_an_agent_runs_without_a_message(client):
    session = make_session(client, "travel")
    run(client, "travel", session["id"], PROMPT)
    before = len(get_session(client, "travel", session["id"])["events"])
    body = {"appName": "travel", "userId": "u", "sessionId": session["id"]}
    answer = client.post("/run", json={**body, "stateDelta": {"given": 1}})
    assert answer.status_code == 200, answer.text
    final = get_session(client, "travel", session["id"])
    delta, *replies = final["events"][before:]
    assert final["state"]["given"] == 1
    assert (delta["author"], delta.get("content"), len(replies)) == (
        "user",
        None,
        len(answer.json()),
    )
    [row] = client.get("/api/sessions", params={"id": session["id"]}).json()["sessions"]
    page = client.get(f"/sessions/{row['key']}", headers={"Accept": "text/html"})
    assert page.status_code == 200


@pytest.mark.req("R26")
@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), (b'{"a": NaN}', 400), (b"[]", 422), (b"", 400), (b" " * 20_000_001, 413)],
)
def test_an_invalid_body_is_refused(client, body, status):
    answer = client.post("/run_sse", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status, answer.text
    assert answer.json()["detail"]


@pytest.mark.req("R67")
def test_every_page_reports_a_body_that_was_too_large(client):
    headers = {"Content-Type": "application/json", "Accept": "text/html"}
    assert client.post("/run_sse", content=b" " * 20_000_001, headers=headers).status_code == 413
    assert "a body over the limit" in client.get("/", headers=headers).text


def test_an_event_that_only_mentions_artifacts_has_one_frame(tmp_path):
    code = """
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event
from google.genai import types


class Speaks(BaseAgent):
    async def _run_async_impl(self, ctx):
        call = types.FunctionCall(name="f", args={"artifactDelta": {"a.txt": 0}})
        said = types.Content(role="model", parts=[types.Part(function_call=call)])
        yield Event(author=self.name, content=said)


root_agent = Speaks(name="speaks")
"""
    write_app(tmp_path / "agents", "speaks", code)
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        frames_told = run(client, "speaks", make_session(client, "speaks")["id"], "go")
    assert ["content" in frame for frame in frames_told] == [True]


@pytest.mark.req("R34")
def test_a_second_run_in_a_busy_session_is_refused(tmp_path):
    go = write_lingering(tmp_path / "agents")
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        session = make_session(client, "summary")
        body = run_body("summary", session["id"], SUMMARIZE, streaming=True)
        with client.stream("POST", "/run_sse", json=body) as first:
            lines = first.iter_lines()
            next(lines)
            second = client.post("/run", json=run_body("summary", session["id"], "Hi"))
            assert second.status_code == 409, second.text
            assert "running" in second.json()["detail"]
            go.touch()
            rest = [line for line in lines if line.startswith("data:")]
    assert '"finishReason":"STOP"' in rest[-1]


@pytest.mark.req("R49")
def test_a_run_continues_when_its_client_leaves(client, server):
    session = make_session(client, "summary")
    body = run_body("summary", session["id"], "Summarize the document", streaming=True)
    with client.stream("POST", "/run_sse", json=body) as answer:
        next(answer.iter_lines())
    with server.client() as other:
        events: list = []
        while len(events) < 2:
            events = get_session(other, "summary", session["id"])["events"]
    assert events[-1]["finishReason"] == "STOP"


def transcript(events: list) -> list[tuple]:
    """The texts, calls and results of events, with their authors."""
    parts = [(event["author"], part) for event in events for part in event["content"]["parts"]]
    kinds = ("functionCall", "functionResponse")
    return [
        (author, part.get("text"), *(part.get(kind, {}).get("name") for kind in kinds))
        for author, part in parts
    ]


@pytest.mark.req("R49")
def test_a_run_ends_the_same_wherever_its_client_leaves(client, server):
    message = "Book a flight to London next Tuesday"
    stayed = make_session(client, "travel", user="stays")["id"]
    body = {**run_body("travel", stayed, message), "userId": "stays"}
    count = len(client.post("/run", json=body).json())
    expected = transcript(get_session(client, "travel", stayed, user="stays")["events"])
    assert count > 5
    for number in range(count + 1):
        left = make_session(client, "travel", user=f"leaves {number}")["id"]
        body = {**run_body("travel", left, message), "userId": f"leaves {number}"}
        with server.client() as leaving, leaving.stream("POST", "/run_sse", json=body) as answer:
            for _, _ in zip(range(number), frames(answer.iter_lines()), strict=False):
                pass
        query = {"app": "travel", "user": f"leaves {number}", "id": left}
        [row] = client.get("/api/sessions", params=query).json()["sessions"]
        while (last := client.get(f"/api/sessions/{row['key']}/run").json())["status"] == "running":
            pass
        assert last["status"] == "done"
        assert (
            transcript(get_session(client, "travel", left, f"leaves {number}")["events"])
            == expected
        )


def curl(url: str, *options: str) -> str:
    command = ["curl", "-sS", "-N", "-X", "POST", url, "-H", "Content-Type: application/json"]
    return subprocess.run([*command, *options], capture_output=True, text=True, check=True).stdout


def snake_case_body(session: str) -> str:
    message = {"role": "user", "parts": [{"text": "Summarize the document"}]}
    names = {"app_name": "summary", "user_id": "u", "session_id": session}
    return json.dumps({**names, "new_message": message})


def test_curl_needs_the_bearer_token(client, server):
    session = make_session(client, "summary")
    body = snake_case_body(session["id"])
    refused = curl(f"{server.url}/run_sse", "-d", body)
    assert "Sign in first" in json.loads(refused)["detail"]
    output = curl(f"{server.url}/run_sse", "-H", f"Authorization: Bearer {TOKEN}", "-d", body)
    assert output.removeprefix(SILENCE).startswith("data: {")


def test_curl_needs_no_token_when_authentication_is_off(tmp_path):
    with running(SAMPLES, tmp_path / "data", "--no-auth") as server, server.client() as client:
        session = make_session(client, "summary")
        output = curl(f"{server.url}/run_sse", "-d", snake_case_body(session["id"]))
        assert output.removeprefix(SILENCE).startswith("data: {")


SILENT = """
import asyncio

from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm


async def wait() -> str:
    await asyncio.sleep(5)
    return "late"


rules = [Rule(after="wait", then=Say("Done.")), Rule(then=Call("wait"))]
root_agent = Agent(name="silent", tools=[wait], model=ScriptedLlm(rules=rules))
"""


def test_comments_are_sent_between_events_while_a_tool_is_silent(tmp_path):
    write_app(tmp_path / "agents", "silent", SILENT)
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        session = make_session(client, "silent")
        body = run_body("silent", session["id"], "go")
        with client.stream("POST", "/run_sse", json=body, timeout=5) as answer:
            writes = b"".join(answer.iter_raw()).decode().split("\n\n")
        assert writes.pop() == ""
        comments = [each for each in writes if each == ":"]
        events = [json.loads(each.removeprefix("data: ")) for each in writes if each != ":"]
        assert comments
        assert events == get_session(client, "silent", session["id"])["events"][1:]
