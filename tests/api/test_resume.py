"""An interrupted run is resumed by its invocation id, with the request of the resume seed."""

import itertools

import pytest

from tests.kit.frames import frames
from tests.kit.server import SAMPLES, get_session, make_session, run, run_body, running, write_app

PROMPT = "Write a sad story about a lonely lighthouse"
APP = """
from pathlib import Path

from devui.runtime.agents import Agent, SequentialAgent
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.models import Call, Rule, Say, ScriptedLlm

MARK = Path(__file__).with_name("repaired")


def connect() -> str:
    if not MARK.exists():
        MARK.touch()
        raise ConnectionError("offline")
    return "online"


first = Agent(
    name="first",
    tools=[connect],
    model=ScriptedLlm(
        rules=[Rule(after="connect", then=Say("{result}")), Rule(then=Call("connect"))]
    ),
)
last = Agent(name="last", model=ScriptedLlm(rules=[Rule(then=Say("bye"))]))
app = App(
    name="flaky",
    root_agent=SequentialAgent(name="seq", sub_agents=[first, last]),
    resumability_config=ResumabilityConfig(is_resumable=True),
)
"""


def resume(client, app, session, invocation):
    """Send the request as printed in ADK's documentation of resuming: with a trailing comma, and
    only the invocation id instead of a message."""
    body = f"""{{
"app_name": "{app}",
"user_id": "u",
"session_id": "{session}",
"invocation_id": "{invocation}",
}}"""
    headers = {"Content-Type": "application/json"}
    with client.stream("POST", "/run_sse", content=body, headers=headers) as answer:
        assert answer.status_code == 200
        return list(frames(answer.iter_lines()))


def authors(events):
    return [event["author"] for event in events if "content" in event]


def test_resuming_reruns_the_failed_tool_and_the_rest_of_the_workflow(tmp_path):
    write_app(tmp_path / "agents", "flaky", APP)
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        session = make_session(client, "flaky")["id"]
        *_, error = run(client, "flaky", session, "go")
        assert error["error"] == "ConnectionError: offline"
        invocation = get_session(client, "flaky", session)["events"][-1]["invocationId"]
        events = resume(client, "flaky", session, invocation)
        assert authors(events) == ["first", "first", "last"]
        assert events[0]["content"]["parts"][0]["functionResponse"]["response"] == {
            "result": "online"
        }
        assert {event["invocationId"] for event in events} == {invocation}
        assert resume(client, "flaky", session, invocation) == []
        [row] = client.get("/api/sessions", params={"app": "flaky"}).json()["sessions"]
        trace = client.get(f"/sessions/{row['key']}?view=trace&event={row['events']}").text
        assert ">2 of 2<" in trace
        assert '<h2 title="go" hx-ignore>go</h2>' in trace  # the message of the previous run
        assert get_session(client, "flaky", session)["events"][0]["content"]["parts"] == [
            {"text": "go"}
        ]


@pytest.mark.parametrize("seen", [2, 7, 14, 20])
def test_a_run_resumed_after_a_kill_comes_to_the_same_end(tmp_path, seen):
    with running(SAMPLES, tmp_path / "data") as server:
        with server.client() as client:
            session = make_session(client, "story_flow")["id"]
            body = run_body("story_flow", session, PROMPT)
            with client.stream("POST", "/run_sse", json=body) as answer:
                early = list(itertools.islice(frames(answer.iter_lines()), seen))
                server.kill()
        server.start()
        with server.client() as client:
            invocation = early[0]["invocationId"]
            resume(client, "story_flow", session, invocation)
            final = get_session(client, "story_flow", session)
    assert [event["id"] for event in final["events"][1:]][:seen] == [each["id"] for each in early]
    assert {event["invocationId"] for event in final["events"]} == {invocation}
    assert final["state"]["tone_check_result"] == "negative"
    assert "a light burns in the window" in final["state"]["current_story"]
    assert final["events"][-1]["actions"]["endOfAgent"] is True


def test_resuming_an_unknown_invocation_is_an_error(client):
    session = make_session(client, "story_flow")["id"]
    *_, error = resume(client, "story_flow", session, "e-none")
    assert "no invocation 'e-none' to resume" in error["error"]
