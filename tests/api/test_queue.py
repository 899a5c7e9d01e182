"""Messages queued during a run: none is lost, and each is sent when its turn comes."""

import time

import pytest

from tests.kit.debugged_run import DebuggedRun, forget_sessions, settled
from tests.kit.patience import PATIENCE
from tests.kit.server import get_session, run_body, running, write_app

AGENT = '''
from devui.runtime.agents import LlmAgent
from devui.runtime.models import Call, Fail, Rule, Say, ScriptedLlm
from devui.runtime.tools import FunctionTool


def pay(amount: int) -> str:
    """Pays.

    Args:
        amount: How much.
    """
    return "paid"


root_agent = LlmAgent(
    name="listener",
    tools=[FunctionTool(pay, require_confirmation=True)],
    model=ScriptedLlm(rules=[
        Rule(after="pay", then=Say("Done.")),
        Rule(user="pay", then=Call("pay", amount=5)),
        Rule(user="fail", then=Fail("no")),
        Rule(then=Say("Heard {user}.")),
    ]),
)
'''


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("queue")
    write_app(folder / "agents", "listener", AGENT)
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client
        forget_sessions(client)


def texts(debugged: DebuggedRun) -> list[str]:
    """The texts of the user's messages so far."""
    events = get_session(debugged.client, debugged.app, debugged.session)["events"]
    parts = (event["content"]["parts"][0] for event in events if event["author"] == "user")
    return [part["text"] for part in parts if "text" in part]


def comes_to(debugged: DebuggedRun, waiting: str, *remaining: str) -> list[int]:
    """Wait until the queue is in this state; return the numbers of its messages."""
    deadline = time.monotonic() + PATIENCE
    while True:
        queue = debugged.client.get(f"/api/sessions/{debugged.key}/queue").json()
        messages = [each["message"]["parts"][0]["text"] for each in queue["messages"]]
        if (queue["status"], messages) == (waiting, [*remaining]):
            return [each["number"] for each in queue["messages"]]
        assert time.monotonic() < deadline, queue
        time.sleep(0.02)


def queue(debugged: DebuggedRun, *messages: str) -> None:
    for message in messages:
        body = {"message": message}
        answer = debugged.client.post(f"/api/sessions/{debugged.key}/queue", json=body)
        assert answer.status_code == 201, answer.text


def test_queued_messages_are_sent_one_by_one_when_the_run_is_done(client):
    debugged = DebuggedRun(client, "listener").start("one")
    queue(debugged, "two", "tree", "four")
    _, tree, four = comes_to(debugged, "running", "two", "tree", "four")
    place = f"/api/sessions/{debugged.key}/queue"
    assert client.patch(f"{place}/{tree}", json={"text": "three"}).status_code == 200
    assert client.delete(f"{place}/{four}").status_code == 200
    assert client.delete(f"{place}/{four}").status_code == 409
    assert client.post(f"{place}/{tree}/send").status_code == 409  # the run is still active
    refused = client.post("/run", json=run_body("listener", debugged.session, "from ADK's API"))
    assert refused.status_code == 409
    debugged.settled()
    debugged.tell("continue")
    comes_to(debugged, "ready")
    settled(client, client.get(f"/api/sessions/{debugged.key}/run").json()["run"])
    assert texts(debugged) == ["one", "two", "three"]
    queue(debugged, "five")  # sent at once
    comes_to(debugged, "ready")
    settled(client, client.get(f"/api/sessions/{debugged.key}/run").json()["run"])
    assert texts(debugged) == ["one", "two", "three", "five"]


def test_a_failed_run_or_a_question_holds_the_queue(client):
    debugged = DebuggedRun(client, "listener").start("fail")
    queue(debugged, "next")
    debugged.settled()
    debugged.tell("continue")
    (number,) = comes_to(debugged, "failed", "next")
    answer = client.post(f"/api/sessions/{debugged.key}/queue/{number}/send")
    assert answer.status_code == 201
    settled(client, answer.json()["run"])
    comes_to(debugged, "ready")
    debugged.start("pay")
    queue(debugged, "thanks")
    debugged.settled()
    debugged.tell("continue")
    comes_to(debugged, "asking", "thanks")
    (question,) = client.get(f"/api/sessions/{debugged.key}/questions").json()["questions"]
    reply = {"event": question["event"], "call": question["call"], "fields": {"choice": "yes"}}
    assert client.post(f"/api/sessions/{debugged.key}/answers", json=reply).status_code == 201
    comes_to(debugged, "ready")
    settled(client, client.get(f"/api/sessions/{debugged.key}/run").json()["run"])
    assert texts(debugged) == ["fail", "next", "pay", "thanks"]


def test_queued_messages_survive_a_kill_of_the_server(server, client):
    debugged = DebuggedRun(client, "listener").start("one")
    queue(debugged, "two")
    server.kill()
    server.start()
    with server.client() as again:
        debugged.client = again
        (number,) = comes_to(debugged, "interrupted", "two")
        response = again.post(f"/api/sessions/{debugged.key}/queue/{number}/send")
        settled(again, response.json()["run"])
        assert texts(debugged)[-1] == "two"
        comes_to(debugged, "ready")
    client.base_url = server.url
